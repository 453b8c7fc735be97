//! A session that reaches its model one way only.

use std::future::{Future, ready};
use std::marker::PhantomData;

use limpid::agent::{Connect, Connection, Model};
use limpid::conversation::{Destination, ProfileRow};

/// There is no other way to a model.
pub(crate) struct NoOther<M>(pub(crate) PhantomData<fn() -> M>);

impl<M: Model + Send + 'static> Connect for NoOther<M> {
    type Model = M;

    async fn connect(&mut self, _: Destination) -> Result<Connection<M>, String> {
        Err("there is no other.".into())
    }

    fn profiles(&self) -> impl Future<Output = Result<Vec<ProfileRow>, String>> + Send + 'static {
        ready(Ok(Vec::new()))
    }

    fn models(
        &self,
        _: String,
    ) -> impl Future<Output = Result<Vec<String>, String>> + Send + 'static {
        ready(Ok(Vec::new()))
    }
}
