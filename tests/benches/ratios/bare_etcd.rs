//! Round trips to etcd: a range, and a transaction that compares and puts, through its JSON gateway.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use ureq::Agent;

use crate::setting::Result;
use crate::shared::Bare;

/// As long as an attempt of the store may take. Not for the whole of it: ureq would start a thread for each request, to look
/// its host up in time.
const TIMEOUT: Duration = Duration::from_secs(5);

pub struct BareEtcd {
    agent: Agent,
    base: String,
    key: String,
    revision: String,
    record: Vec<u8>,
}

impl Bare for BareEtcd {
    const HOW: &str = "ureq to the JSON gateway";

    fn open(address: &str, record: &[u8]) -> Result<Self> {
        let server = address.strip_prefix("etcd://").ok_or("only etcd:// is measured")?;
        let server = server.split(['/', '?', ',']).next().unwrap_or(server);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_recv_response(Some(TIMEOUT))
            .timeout_send_request(Some(TIMEOUT))
            .timeout_send_body(Some(TIMEOUT))
            .timeout_recv_body(Some(TIMEOUT));
        let key = STANDARD.encode(format!("benchmark {:016x}", fastrand::u64(..)));
        let mut bare = BareEtcd {
            agent: config.build().new_agent(),
            base: format!("http://{server}"),
            key,
            revision: "0".to_owned(),
            record: record.to_vec(),
        };
        bare.write()?;
        Ok(bare)
    }

    fn read(&mut self) -> Result<()> {
        let answer = self.ask("/v3/kv/range", &json!({"key": self.key}))?;
        let found = &answer["kvs"][0];
        let text = |field: &str| found[field].as_str().ok_or_else(|| format!("etcd answered {answer}"));
        self.record = STANDARD.decode(text("value")?)?;
        self.revision = text("mod_revision")?.to_owned();
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let answer = self.ask(
            "/v3/kv/txn",
            &json!({
                "compare": [{"target": "MOD", "result": "EQUAL", "key": self.key, "mod_revision": self.revision}],
                "success": [{"request_put": {"key": self.key, "value": STANDARD.encode(&self.record)}}],
            }),
        )?;
        if answer["succeeded"] == true { Ok(()) } else { Err(format!("etcd answered {answer}").into()) }
    }
}

impl BareEtcd {
    fn ask(&self, path: &str, request: &Value) -> Result<Value> {
        let request = serde_json::to_vec(request)?;
        let sending = self.agent.post(format!("{}{path}", self.base)).header("Content-Type", "application/json");
        let answer = sending.send(&request)?.body_mut().read_to_vec()?;
        Ok(serde_json::from_slice(&answer)?)
    }
}

impl Drop for BareEtcd {
    fn drop(&mut self) {
        if let Err(error) = self.ask("/v3/kv/deleterange", &json!({"key": self.key})) {
            eprintln!("{}: {error}", self.key);
        }
    }
}
