//! The functions that the component imports, in a linker: storage, clock and entropy.

use halfopen_contract::types::StorageError;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, WasmStr};

use super::imports::{ImportsView, Loaded, Outcome};
use super::write_through::{Commit, WriteThrough, denied};
use crate::calls::{Calls, plain};

/// The arguments of `commit`.
type CommitArguments = (WasmStr, u64, Option<Vec<u8>>, Vec<String>);

/// Supplies the imports, for plain or for async calls.
pub(crate) fn link<T: ImportsView>(linker: &mut Linker<T>, calls: Calls) -> wasmtime::Result<()> {
    let mut clock = linker.instance("halfopen:breaker/clock@0.1.0")?;
    clock.func_wrap("now", |mut store: StoreContextMut<'_, T>, (): ()| Ok((store.data_mut().imports().now(),)))?;
    let mut entropy = linker.instance("halfopen:breaker/entropy@0.1.0")?;
    entropy
        .func_wrap("next", |mut store: StoreContextMut<'_, T>, (): ()| Ok((store.data_mut().imports().random(),)))?;
    let mut storage = linker.instance("halfopen:breaker/storage@0.1.0")?;
    match calls {
        Calls::Plain => {
            storage.func_wrap("load", |store, arguments| plain(load::<T>(Calls::Plain, store, arguments)))?;
            storage.func_wrap("commit", |store, arguments| plain(commit::<T>(Calls::Plain, store, arguments)))
        }
        Calls::Async => {
            storage.func_wrap_async("load", |store, arguments| Box::new(load::<T>(Calls::Async, store, arguments)))?;
            storage.func_wrap_async("commit", |store, arguments| Box::new(commit::<T>(Calls::Async, store, arguments)))
        }
    }
}

async fn load<T: ImportsView>(
    calls: Calls,
    mut store: StoreContextMut<'_, T>,
    (name,): (WasmStr,),
) -> wasmtime::Result<(Result<Loaded, StorageError>,)> {
    let result = match route(&mut store, &name)? {
        Ok(Route::Operation) => Ok(store.data_mut().imports().load()),
        Ok(Route::WriteThrough(records, name)) => {
            let loaded = calls.block(move || records.load(&name)).await;
            loaded.map(|snapshot| store.data_mut().imports().loaded(snapshot))
        }
        Err(error) => Err(error),
    };
    Ok((result,))
}

async fn commit<T: ImportsView>(
    calls: Calls,
    mut store: StoreContextMut<'_, T>,
    (name, based_on, data, transitions): CommitArguments,
) -> wasmtime::Result<(Result<Outcome, StorageError>,)> {
    let commit = Commit { based_on, data, transitions };
    let result = match route(&mut store, &name)? {
        Ok(Route::Operation) => store.data_mut().imports().commit(commit),
        Ok(Route::WriteThrough(records, name)) => match store.data_mut().imports().check_size(commit.size()) {
            Ok(()) => {
                let outcome = calls.block(move || records.commit(&name, &commit)).await;
                outcome.map(|outcome| store.data_mut().imports().committed(based_on, outcome))
            }
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    Ok((result,))
}

/// The way of a storage call.
enum Route {
    /// To the record of the operation.
    Operation,
    /// To the store, at once.
    WriteThrough(WriteThrough, Box<str>),
}

/// Decides the way of a storage call. The name is compared in the component's memory, without a copy.
fn route<T: ImportsView>(
    store: &mut StoreContextMut<'_, T>,
    name: &WasmStr,
) -> wasmtime::Result<Result<Route, StorageError>> {
    // Taken out for the moment: the name is read through the store as well.
    let Some(own) = store.data_mut().imports().dependency.take() else {
        let write_through = store.data_mut().imports().write_through.clone();
        let refused = "a call reads and writes a record only as an operation of a handle, or where its commits are \
                       written through";
        return Ok(match write_through {
            Some(records) => Ok(Route::WriteThrough(records, name.to_str(&store)?.into())),
            None => Err(denied(refused)),
        });
    };
    let is_own = name.to_str(&store).map(|name| *name == *own);
    store.data_mut().imports().dependency = Some(own);
    let another = "a call reads and writes the record of its own dependency only";
    Ok(if is_own? { Ok(Route::Operation) } else { Err(denied(another)) })
}
