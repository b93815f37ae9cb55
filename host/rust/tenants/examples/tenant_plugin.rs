//! A platform that offers the breaker to its tenants' plugins.
//!
//! `cargo run -p halfopen-tenants --example tenant_plugin [PLUGIN]`

use halfopen::{Host, Policy};
use halfopen_tenants::wasmtime::component::{Component, Linker};
use halfopen_tenants::wasmtime::{Engine, Store};
use halfopen_tenants::{Tenant, TenantCtx, TenantView, offer_to_linker};

/// The data of each instance of a plugin.
struct Data {
    breaker: TenantCtx,
}

impl TenantView for Data {
    fn tenant(&mut self) -> &mut TenantCtx {
        &mut self.breaker
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Once: the engine and the linker are the platform's own; the breaker is one more interface in it.
    // `Host::open("sqlite:breakers.db")` would share the breakers with other processes of the platform.
    let policy = Policy::new().consecutive_failures(3).open_ms(200).fresh_ms(0);
    let host = Host::builder().default_policy(policy).build()?;
    let engine = Engine::default();
    let mut linker: Linker<Data> = Linker::new(&engine);
    offer_to_linker(&mut linker)?;
    let plugin = Component::new(&engine, plugin()?)?;
    let plugin = linker.instantiate_pre(&plugin)?;

    // For each tenant: its namespace, and its limits.
    let acme = Tenant::builder(&host, "acme").dependencies(10).calls(50, 100).build();
    let globex = Tenant::builder(&host, "globex").dependencies(10).calls(1, 4).build();

    // For each request: an instance of the tenant's plugin, which makes a call through the breaker.
    let run = |tenant: &Tenant, up: bool| -> Result<(), Box<dyn std::error::Error>> {
        let mut store = Store::new(&engine, Data { breaker: tenant.context() });
        let instance = plugin.instantiate(&mut store)?;
        let charge = instance.get_typed_func::<(bool,), (bool,)>(&mut store, "charge")?;
        let (made,) = charge.call(&mut store, (up,))?;
        println!("{}: {}", tenant.host().namespace(), if made { "the call was made" } else { "no call was made" });
        Ok(())
    };

    // The dependency of acme is down: three calls fail, and the fourth is deferred.
    for _ in 0..4 {
        run(&acme, false)?;
    }
    println!("acme's breaker is {}", acme.host().breaker("payments").inspect()?.state);

    // It has healed: the next call is the probe, and closes the breaker.
    std::thread::sleep(std::time::Duration::from_millis(300));
    run(&acme, true)?;
    println!("acme's breaker is {}", acme.host().breaker("payments").inspect()?.state);

    // The breaker of globex is another one. It may make four calls at once, and each run makes two.
    run(&globex, true)?;
    run(&globex, true)?;
    run(&globex, true)?;
    Ok(())
}

/// The plugin of a tenant: from the file of the first argument, or the small one in `plugin.wat`. Your tenants build theirs
/// with their own tools: for one in Rust see `tests/tenant`.
fn plugin() -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    if let Some(file) = std::env::args().nth(1) {
        return Ok(std::fs::read(file)?);
    }
    let mut module = wat::parse_str(include_str!("plugin.wat"))?;
    let mut contract = wit_parser::Resolve::default();
    contract.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../wit"))?;
    let package = contract.push_str(
        "plugin.wit",
        "package example:shop;
         world plugin {
           include halfopen:breaker/caller@0.1.0;
           export charge: func(up: bool) -> bool;
         }",
    )?;
    let world = contract.select_world(&[package], Some("plugin"))?;
    wit_component::embed_component_metadata(&mut module, &contract, world, wit_component::StringEncoding::UTF8, false)?;
    Ok(wit_component::ComponentEncoder::default().module(&module)?.encode()?)
}
