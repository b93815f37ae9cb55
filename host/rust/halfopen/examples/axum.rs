//! A breaker around a route of an axum server: responses with 5xx and slow ones trip it, and requests meanwhile are answered
//! at once with 503 and `Retry-After`.
//!
//! `cargo run --example axum --features tower`

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use halfopen::tower::{BreakerLayer, HttpClassifier};
use halfopen::{Breaker, Host, Outcome, Policy};

/// The part to copy: the routes behind the breaker, and the responses that count as failures.
fn app(provider: Breaker) -> Router {
    // A request to slow down is a failure as well here.
    let classifier = HttpClassifier::new().judge(429..=429, Outcome::Failure);
    Router::new()
        .route("/charge", get(charge))
        .layer(BreakerLayer::http(provider).classify(classifier))
        // Added after the layer, and so behind no breaker.
        .route("/health", get(async || "fine"))
}

fn main() -> Result<(), Box<dyn Error>> {
    // `Host::open("sqlite:breakers.db")` would share the breaker with every process that opens the same file.
    let policy = Policy::new().consecutive_failures(3).open_ms(300);
    let host = Host::builder().address("memory").default_policy(policy).build()?;
    // A response that takes longer is cut off, answered with 504, and counts as a timeout.
    let provider = host.breaker("provider").timeout(Duration::from_secs(2));
    let app = app(provider);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        // A service of yours stays here: `axum::serve(listener, app).await`. This one has a few visitors and ends.
        let server = tokio::spawn(async move { axum::serve(listener, app).await });
        tokio::task::spawn_blocking(move || visit(address)).await??;
        server.abort();
        Ok(())
    })
}

/// Whether the provider behind the route works.
static UP: AtomicBool = AtomicBool::new(false);

/// Calls the provider.
async fn charge() -> (StatusCode, &'static str) {
    if UP.load(Ordering::Relaxed) {
        (StatusCode::OK, "receipt 17")
    } else {
        (StatusCode::BAD_GATEWAY, "the provider is down")
    }
}

/// The server's visitors.
fn visit(server: SocketAddr) -> std::io::Result<()> {
    println!("The provider is down. Three requests reach it, the others do not:");
    for _ in 0..5 {
        println!("  /charge  {}", request(server, "/charge")?);
    }
    println!("  /health  {}", request(server, "/health")?);
    println!("It has healed. The first request after the window is the probe:");
    UP.store(true, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..2 {
        println!("  /charge  {}", request(server, "/charge")?);
    }
    Ok(())
}

/// The status of the response, and its `Retry-After`.
fn request(server: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(server)?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let mut head = response.lines().take_while(|line| !line.is_empty());
    let status = head.next().unwrap_or_default().trim_start_matches("HTTP/1.1 ").to_owned();
    let retry_after = head.find(|line| line.to_ascii_lowercase().starts_with("retry-after"));
    Ok(retry_after.map_or(status.clone(), |line| format!("{status}, {line}")))
}
