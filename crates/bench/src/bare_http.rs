//! A bare handler on the daemon's HTTP stack: the baseline of `get_hint` over HTTP.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use model::OpError;
use runtime::tasks;
use tokio::net::TcpListener;

/// Answers every request with this many bytes of JSON until it is killed; prints its port first.
pub(crate) fn run(bytes: usize) -> Result<(), OpError> {
    let served = crate::threads::tokio_runtime()?.block_on(serve(bytes));
    served.map_err(|error| OpError::unavailable(error.to_string()))
}

async fn serve(bytes: usize) -> io::Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    println!("{}", listener.local_addr()?.port());
    let body = Bytes::from(format!("\"{}\"", "x".repeat(bytes.saturating_sub(2))));
    loop {
        let (stream, _) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        let body = body.clone();
        let service = service_fn(move |request: Request<Incoming>| answer(request, body.clone()));
        tasks::spawn("bare connection", async move {
            // A client that disconnects early ends its connection; there is nothing to report.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Receives the body, as any handler has to, and ignores it.
async fn answer(
    request: Request<Incoming>,
    body: Bytes,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let _ = request.into_body().collect().await;
    let mut response = Response::new(Full::new(body));
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}
