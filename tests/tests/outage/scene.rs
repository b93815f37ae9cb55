//! A store that a test can put out of reach, and back.

use std::sync::Arc;
use std::time::Duration;

use halfopen::store::Key;
use halfopen::{Breaker, Host, HostBuilder, Policy};
use halfopen_tests::breakers::address;
use halfopen_tests::proxy::Proxy;
use halfopen_tests::stores::{ETCD, Kind, POSTGRES};
use tempfile::TempDir;

/// A way to put a store out of reach.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// The folder of a SQLite file is moved away.
    Moved,
    /// The connections to a server are cut, and new ones too.
    Cut(Kind),
    /// A server, or the network, answers nothing any more.
    Silent(Kind),
}

impl Way {
    pub fn all() -> [Way; 5] {
        [Way::Moved, Way::Cut(POSTGRES), Way::Silent(POSTGRES), Way::Cut(ETCD), Way::Silent(ETCD)]
    }

    /// Whether the environment names its server.
    pub fn is_given(&self) -> bool {
        match self {
            Way::Moved => true,
            Way::Cut(kind) | Way::Silent(kind) => kind.address().is_some(),
        }
    }

    pub fn name(&self) -> String {
        match self {
            Way::Moved => "a SQLite file that is gone".to_owned(),
            Way::Cut(kind) => format!("{} cut off", kind.name),
            Way::Silent(kind) => format!("{} silent", kind.name),
        }
    }

    pub fn is_postgres_cut(&self) -> bool {
        matches!(self, Way::Cut(kind) if kind.name == POSTGRES.name)
    }
}

pub struct Scene {
    way: Way,
    folder: TempDir,
    proxy: Option<Arc<Proxy>>,
    address: String,
    past: String,
    namespace: String,
}

impl Scene {
    pub fn new(way: &Way) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("store")).unwrap();
        let (proxy, past, address) = match way {
            Way::Moved => {
                let address = address(&folder.path().join("store/breakers.db"));
                (None, address.clone(), address)
            }
            Way::Cut(kind) | Way::Silent(kind) => {
                let address = kind.address().expect("its tests are ignored without a server");
                let port = port(&address);
                let proxy = Proxy::before(port);
                let through = address.replace(&format!(":{port}/"), &format!(":{}/", proxy.port()));
                // Of two limits of one name, the last one counts in one store, and one is too many in the other.
                let through = match through.replace("timeout=30", "timeout=2") {
                    same if same == through => format!("{same}&timeout=2s"),
                    shorter => shorter,
                };
                (Some(Arc::new(proxy)), address, through)
            }
        };
        let namespace = format!("test {:016x}", fastrand::u64(..));
        Scene { way: *way, folder, proxy, address, past, namespace }
    }

    /// From now on the store cannot be reached.
    pub fn cut(&self) {
        match (&self.way, &self.proxy) {
            (Way::Cut(_), Some(proxy)) => proxy.cut(),
            (Way::Silent(_), Some(proxy)) => proxy.delay(Duration::from_secs(3_600)),
            _ => std::fs::rename(self.folder.path().join("store"), self.folder.path().join("away")).unwrap(),
        }
    }

    /// It can be reached again.
    pub fn mend(&self) {
        match (&self.way, &self.proxy) {
            (Way::Cut(_), Some(proxy)) => proxy.mend(),
            (Way::Silent(_), Some(proxy)) => {
                proxy.delay(Duration::ZERO);
                proxy.cut_once();
            }
            _ => std::fs::rename(self.folder.path().join("away"), self.folder.path().join("store")).unwrap(),
        }
    }

    pub fn proxy(&self) -> Arc<Proxy> {
        self.proxy.clone().expect("there is one before a server")
    }

    /// The record, as it is in the store.
    pub fn record(&self) -> Vec<u8> {
        let store = halfopen::store::open(&self.past).unwrap();
        store.load(Key { namespace: &self.namespace, dependency: "pay" }).unwrap().data.expect("there is a record")
    }

    /// A host behind the outage.
    pub fn builder(&self, policy: &Policy) -> HostBuilder {
        Host::builder().address(&self.address).namespace(&self.namespace).default_policy(policy.clone())
    }

    pub fn breaker(&self, policy: &Policy) -> Breaker {
        self.builder(policy).build().unwrap_or_else(|error| panic!("{}: {error}", self.way.name())).breaker("pay")
    }

    /// Another process, past the outage where there is a way past it.
    pub fn other(&self, policy: &Policy) -> Breaker {
        let builder = Host::builder().address(&self.past).namespace(&self.namespace).default_policy(policy.clone());
        builder.build().unwrap_or_else(|error| panic!("{}: {error}", self.way.name())).breaker("pay")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.proxy.is_some() {
            let host = Host::builder().address(&self.past).namespace(&self.namespace).build();
            host.and_then(|host| Ok(host.remove_namespace()?)).expect("the namespace can be removed");
        }
    }
}

fn port(address: &str) -> u16 {
    let (_, after) = address.rsplit_once("127.0.0.1:").expect("the servers of tests are on this machine");
    let digits = after.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().expect("a port")
}
