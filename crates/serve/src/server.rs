//! The server: what it answers, and to whom.

use std::collections::BTreeSet;
use std::future::{Future, IntoFuture as _, poll_fn};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::extract::{Path, Query, Request, State as Shared};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Form, Router};
use rocelab_report::{compare_html, report_html_with};
use tokio::net::TcpListener;

use crate::folder::{COMPARED, Content, Folder, Run};
use crate::list::{self, State};

/// A server that has its address, and does not answer yet.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
    site: Arc<Site>,
}

/// What all answers need.
#[derive(Debug)]
struct Site {
    folder: Folder,
    /// What the page with all runs is called.
    title: String,
    /// The names by which browsers may call this server.
    hosts: [String; 2],
}

impl Server {
    /// Takes a port of this machine's own address, 127.0.0.1, which no other machine reaches; any free
    /// one if `port` is 0. It must run inside a tokio runtime.
    ///
    /// # Errors If the port is taken, or may not be used.
    pub(crate) async fn bind(folder: Folder, title: String, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        // Browsers leave out the port of HTTP.
        let host = |host| if port == 80 { String::from(host) } else { format!("{host}:{port}") };
        let hosts = ["127.0.0.1", "localhost"].map(host);
        Ok(Self { listener, site: Arc::new(Site { folder, title, hosts }) })
    }

    /// Where it listens.
    ///
    /// # Errors The operating system's.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `end` comes, and no longer: nobody waits for answers that are being made.
    ///
    /// # Errors The operating system's.
    pub(crate) async fn run(self, end: impl Future<Output = ()>) -> io::Result<()> {
        let routes = Router::new()
            .route("/", get(all_runs))
            .route("/state.json", get(state))
            .route("/run/{*name}", get(report))
            .route("/compare", get(comparison).post(long_comparison))
            .layer(from_fn_with_state(Arc::clone(&self.site), guard))
            .with_state(self.site);
        let mut served = pin!(axum::serve(self.listener, routes).into_future());
        let mut end = pin!(end);
        poll_fn(|context| match end.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Ok(())),
            Poll::Pending => served.as_mut().poll(context),
        })
        .await
    }
}

/// Answers only to those who call this server by its own name: a page of another site could otherwise
/// have its name lead here, and read the results (DNS rebinding).
async fn guard(Shared(site): Shared<Arc<Site>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let mut named = headers.get_all(HOST).iter();
    let host = named.next().and_then(|host| host.to_str().ok()).map(str::to_ascii_lowercase);
    // A page of another site could not read an answer, but have this server work.
    let from = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    let is_from_elsewhere = from.is_some_and(|site| site != b"same-origin" && site != b"none");
    let is_ours = host.is_some_and(|host| site.hosts.contains(&host))
        && named.next().is_none()
        && !is_from_elsewhere;
    let mut response = if is_ours {
        next.run(request).await
    } else {
        let text = format!("This server is http://{}/ and nothing else.\n", site.hosts[0]);
        (StatusCode::FORBIDDEN, text).into_response()
    };
    protect(response.headers_mut());
    response
}

fn protect(headers: &mut HeaderMap) {
    const ALL: [(HeaderName, &str); 4] = [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in ALL {
        headers.insert(name, axum::http::HeaderValue::from_static(value));
    }
}

async fn all_runs(Shared(site): Shared<Arc<Site>>) -> Response {
    page(move || Ok(list::list_html(&site.folder, &site.title))).await
}

async fn state(Shared(site): Shared<Arc<Site>>) -> Response {
    let read = move || {
        let state = State::of(&site.folder.content());
        serde_json::to_string(&state).map_err(|error| Refusal::Unreadable(error.to_string()))
    };
    answer(read, "application/json").await
}

async fn report(Shared(site): Shared<Arc<Site>>, Path(name): Path<String>) -> Response {
    page(move || {
        let run = site.folder.run(&name).ok_or(Refusal::Unknown)?;
        let results = run.results().map_err(Refusal::Unreadable)?;
        let settings = site.folder.settings(&run);
        report_html_with(&results, &settings)
            .map_err(|error| Refusal::Unreadable(error.to_string()))
    })
    .await
}

/// What to compare: `run` with the name of a run, `sweep` with that of a sweep's folder, each any number
/// of times. Other keys say nothing.
type Choice = Vec<(String, String)>;

/// Compares what the address names.
async fn comparison(Shared(site): Shared<Arc<Site>>, Query(choice): Query<Choice>) -> Response {
    page(move || compared(&site, &choice)).await
}

/// Compares what the body names: addresses have no room for thousands of runs. It changes nothing here.
async fn long_comparison(Shared(site): Shared<Arc<Site>>, Form(choice): Form<Choice>) -> Response {
    page(move || compared(&site, &choice)).await
}

fn compared(site: &Site, choice: &Choice) -> Result<String, Refusal> {
    let content = site.folder.content();
    let runs = chosen(&content, choice)?;
    let results = runs.iter().map(|run| run.results()).collect::<Result<Vec<_>, _>>();
    let results = results.map_err(Refusal::Unreadable)?;
    compare_html(&results).map_err(|error| Refusal::Unreadable(error.to_string()))
}

/// The runs that are named, each once, in the order in which they are named.
fn chosen<'c>(content: &'c Content, choice: &'c Choice) -> Result<Vec<&'c Run>, Refusal> {
    let mut names = BTreeSet::new();
    let mut runs = Vec::new();
    for (key, name) in choice {
        let named: Vec<&Run> = match key.as_str() {
            "run" => content.runs.iter().filter(|run| run.name == *name).collect(),
            "sweep" => content.points_of(name).collect(),
            _ => continue,
        };
        if named.is_empty() {
            return Err(Refusal::Unknown);
        }
        runs.extend(named.into_iter().filter(|run| names.insert(&run.name)));
    }
    match runs.len() {
        0 | 1 => Err(Refusal::TooFew),
        found if found > COMPARED => Err(Refusal::TooMany { found }),
        _ => Ok(runs),
    }
}

/// Why there is no page.
#[derive(Debug)]
enum Refusal {
    /// No complete run below the folder has this name.
    Unknown,
    /// One run is nothing to compare.
    TooFew,
    /// More runs than [`COMPARED`].
    TooMany { found: usize },
    /// The results cannot be read, in words.
    Unreadable(String),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Unknown => {
                let text = "No complete run, and no sweep, of this folder has this name.\n";
                (StatusCode::NOT_FOUND, text).into_response()
            }
            Self::TooFew => {
                (StatusCode::BAD_REQUEST, "Choose two runs or more to compare.\n").into_response()
            }
            Self::TooMany { found } => {
                let text = format!(
                    "{found} runs are chosen, and a page compares {COMPARED} at the most: choose fewer, or use \
                     `rocelab compare` in a terminal, which has no limit.\n"
                );
                (StatusCode::BAD_REQUEST, text).into_response()
            }
            Self::Unreadable(reason) => {
                (StatusCode::INTERNAL_SERVER_ERROR, format!("{reason}\n")).into_response()
            }
        }
    }
}

async fn page(make: impl FnOnce() -> Result<String, Refusal> + Send + 'static) -> Response {
    answer(make, "text/html; charset=utf-8").await
}

/// Reads and draws beside the server, which goes on to answer others.
async fn answer(
    make: impl FnOnce() -> Result<String, Refusal> + Send + 'static,
    content: &'static str,
) -> Response {
    match tokio::task::spawn_blocking(make).await {
        Ok(Ok(text)) => ([(CONTENT_TYPE, content)], text).into_response(),
        Ok(Err(refusal)) => refusal.into_response(),
        Err(_) => {
            let text = "This is a defect of rocelab; please report it with the results.\n";
            (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
        }
    }
}
