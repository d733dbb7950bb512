// SPDX-License-Identifier: Apache-2.0 OR MIT
//! HTTP/3 by `h3`: GET and HEAD.

use std::string::{String, ToString};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use h3::server::RequestResolver;
use h3_quinn::Connection;
use http::header::CONTENT_LENGTH;
use http::{Method, Request, Response, StatusCode};
use tokio::task::JoinSet;

use super::object::Site;
use super::serve::{Limits, Tally};

/// The longest fields of a request.
const FIELDS: u64 = 16 << 10;

/// Answers the requests of a connection until it ends.
pub(super) async fn answer(connection: Connection, site: &Arc<Site>, limits: &Limits, tally: &Arc<Tally>) {
    let built = h3::server::builder().max_field_section_size(FIELDS).build(connection).await;
    let Ok(mut served) = built else { return };
    // Dropping this set cancels its requests.
    let mut requests = JoinSet::new();
    while let Ok(Some(resolver)) = served.accept().await {
        let (site, limits, tally) = (Arc::clone(site), *limits, Arc::clone(tally));
        requests.spawn(async move { request(resolver, &site, &limits, &tally).await });
        while requests.try_join_next().is_some() {}
    }
}

async fn request(resolver: RequestResolver<Connection, Bytes>, site: &Site, limits: &Limits, tally: &Tally) {
    let whole = async {
        let (request, mut stream) = resolver.resolve_request().await.ok()?;
        // A stream dropped before its end is stopped, which curl treats as a reset of the response.
        while stream.recv_data().await.ok()?.is_some() {}
        Some((request, stream))
    };
    let Ok(Some((request, mut stream))) = tokio::time::timeout(limits.request, whole).await else {
        return tally.refused();
    };
    let object = site.open(request.uri().path(), limits.object);
    let (status, object) = match (request.method(), object) {
        (&Method::GET | &Method::HEAD, Some(object)) => (StatusCode::OK, Some(object)),
        (&Method::GET | &Method::HEAD, None) => (StatusCode::NOT_FOUND, None),
        _ => (StatusCode::METHOD_NOT_ALLOWED, None),
    };
    let size = object.as_ref().map_or(0, |object| object.size);
    let head = Response::builder().status(status).header(CONTENT_LENGTH, size).body(());
    let Ok(head) = head else { return tally.refused() };
    if stream.send_response(head).await.is_err() {
        return;
    }
    let Some(mut object) = object else {
        tally.refused();
        drop(stream.finish().await);
        return;
    };
    if request.method() == Method::GET {
        loop {
            match object.next() {
                Ok(Some(bytes)) => {
                    let length = bytes.len();
                    if stream.send_data(bytes).await.is_err() {
                        return;
                    }
                    tally.sent(length);
                }
                Ok(None) => break,
                Err(_) => {
                    tally.refused();
                    return stream.stop_stream(h3::error::Code::H3_INTERNAL_ERROR);
                }
            }
        }
    }
    if stream.finish().await.is_ok() {
        tally.served();
    }
}

/// Asks for an object and hands its parts to `take`.
pub(super) async fn get(
    connection: Connection,
    address: &str,
    take: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let built = h3::client::new(connection).await.map_err(|error| error.to_string())?;
    let (mut driver, mut requests) = built;
    let asked = Request::get(address).body(()).map_err(|error| error.to_string())?;
    // The connection makes progress only while it is polled.
    let driver =
        tokio::spawn(async move { std::future::poll_fn(|context| driver.poll_close(context)).await });
    let told = |error: h3::error::StreamError| error.to_string();
    let mut stream = requests.send_request(asked).await.map_err(told)?;
    stream.finish().await.map_err(told)?;
    let head = stream.recv_response().await.map_err(told)?;
    if head.status() != StatusCode::OK {
        return Err(std::format!("the server answers {}", head.status()));
    }
    while let Some(mut part) = stream.recv_data().await.map_err(told)? {
        while part.has_remaining() {
            let bytes = part.chunk();
            take(bytes)?;
            let size = bytes.len();
            part.advance(size);
        }
    }
    driver.abort();
    Ok(())
}
