use std::sync::Arc;

#[cfg(feature = "component")]
use halfopen_component::{Component, ComponentEngine, ComponentEngineError, Limits};
use halfopen_contract::documents::Policy;
use halfopen_contract::engine::Engine;

use crate::error::OpenError;

/// The engine that a host is to have.
pub(super) enum EngineChoice {
    /// The component, under limits.
    #[cfg(feature = "component")]
    Component(Box<Component>, Limits),
    /// The rules, linked in.
    #[cfg(feature = "native")]
    Native,
    /// Another one.
    Own(Arc<dyn Engine>),
    /// This build has none.
    #[cfg(not(any(feature = "component", feature = "native")))]
    Missing,
}

impl Default for EngineChoice {
    fn default() -> Self {
        #[cfg(feature = "component")]
        return EngineChoice::Component(Box::new(Component::embedded()), Limits::default());
        #[cfg(all(feature = "native", not(feature = "component")))]
        return EngineChoice::Native;
        #[cfg(not(any(feature = "component", feature = "native")))]
        return EngineChoice::Missing;
    }
}

impl EngineChoice {
    /// The engine, with its default policy.
    pub fn make(self, default_policy: &Policy) -> Result<Arc<dyn Engine>, OpenError> {
        match self {
            #[cfg(feature = "component")]
            EngineChoice::Component(component, limits) => {
                match ComponentEngine::new(&component, limits, default_policy) {
                    Ok(engine) => Ok(Arc::new(engine)),
                    Err(ComponentEngineError::Component(error)) => Err(error.into()),
                    Err(ComponentEngineError::InvalidPolicy(faults)) => Err(OpenError::InvalidPolicy(faults)),
                    Err(ComponentEngineError::Engine(error)) => Err(OpenError::Engine(error)),
                }
            }
            #[cfg(feature = "native")]
            EngineChoice::Native => match halfopen_native::NativeEngine::new(default_policy) {
                Ok(engine) => Ok(Arc::new(engine)),
                Err(error) => Err(error.into()),
            },
            EngineChoice::Own(engine) => Ok(engine),
            #[cfg(not(any(feature = "component", feature = "native")))]
            EngineChoice::Missing => Err(OpenError::Engine(halfopen_contract::EngineError::Broken {
                why: "this build has no engine: turn on feature `component` or `native`, or give one".to_owned(),
            })),
        }
    }
}
