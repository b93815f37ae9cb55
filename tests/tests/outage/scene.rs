//! A store that a test can put out of reach, and back.

use std::sync::Arc;
use std::time::Duration;

use halfopen::store::Key;
use halfopen::{Breaker, Host, HostBuilder, Policy};
use halfopen_tests::breakers::address;
use halfopen_tests::proxy::Proxy;
use halfopen_tests::stores::{ETCD, POSTGRES};
use tempfile::TempDir;

/// How a store is put out of reach.
#[derive(Clone, Debug)]
pub enum Way {
    /// The folder of a SQLite file is moved away.
    Moved,
    /// The connections to a server are cut, and new ones too.
    Cut(Server),
    /// A server, or what is in between, says nothing any more.
    Silent(Server),
}

/// A real server.
#[derive(Clone, Debug)]
pub struct Server {
    name: &'static str,
    address: String,
}

impl Way {
    /// All that can be tested here.
    pub fn all() -> Vec<Way> {
        let servers = [POSTGRES, ETCD].into_iter().filter_map(|kind| {
            let server = Server { name: kind.name, address: kind.address()? };
            Some([Way::Cut(server.clone()), Way::Silent(server)])
        });
        std::iter::once(Way::Moved).chain(servers.flatten()).collect()
    }

    pub fn name(&self) -> String {
        match self {
            Way::Moved => "a SQLite file that is gone".to_owned(),
            Way::Cut(Server { name, .. }) => format!("{name} cut off"),
            Way::Silent(Server { name, .. }) => format!("{name} silent"),
        }
    }

    pub fn is_postgres_cut(&self) -> bool {
        matches!(self, Way::Cut(Server { name, .. }) if *name == POSTGRES.name)
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
            Way::Cut(Server { address, .. }) | Way::Silent(Server { address, .. }) => {
                let port = port(address);
                let proxy = Proxy::before(port);
                let through = address.replace(&format!(":{port}/"), &format!(":{}/", proxy.port()));
                // Of two limits of one name, the last one counts in one store, and one is too many in the other.
                let through = match through.replace("timeout=30", "timeout=2") {
                    same if same == through => format!("{same}&timeout=2s"),
                    shorter => shorter,
                };
                (Some(Arc::new(proxy)), address.clone(), through)
            }
        };
        let namespace = format!("test {:016x}", fastrand::u64(..));
        Scene { way: way.clone(), folder, proxy, address, past, namespace }
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

    /// A host that the outage meets.
    pub fn builder(&self, policy: &Policy) -> HostBuilder {
        Host::builder().address(&self.address).namespace(&self.namespace).default_policy(*policy)
    }

    pub fn breaker(&self, policy: &Policy) -> Breaker {
        self.builder(policy).build().unwrap_or_else(|error| panic!("{}: {error}", self.way.name())).breaker("pay")
    }

    /// Another process, which does not meet it, except where there is no way past it.
    pub fn other(&self, policy: &Policy) -> Breaker {
        let builder = Host::builder().address(&self.past).namespace(&self.namespace).default_policy(*policy);
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
