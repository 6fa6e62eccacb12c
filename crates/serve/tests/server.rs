//! The server, as a browser sees it.

#![expect(clippy::disallowed_types, reason = "how long the server takes is what is tested")]

#[path = "../../report/tests/integration/browser/chromium.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod chromium;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rocelab_results::{
    DropRecord, LinkRecord, Overwrite, PauseRecord, ResultsDir, RunInfo, RunProgress, Summary,
};
use rocelab_serve::{Folder, serve};
use serde_json::{Value, json};

use self::chromium::Chromium;

/// Writes complete results of a run without flows.
fn write_run(path: &Path, scenario: &str, seed: u64) {
    let directory = ResultsDir::create(path, Overwrite::Refuse).unwrap();
    directory.flows().unwrap().finish().unwrap();
    directory.records::<LinkRecord<'_>>().unwrap().finish().unwrap();
    directory.records::<PauseRecord<'_>>().unwrap().finish().unwrap();
    directory.records::<DropRecord<'_>>().unwrap().finish().unwrap();
    let summary =
        Summary { scenario: scenario.to_owned(), seed, roce_version: 2, ..Summary::default() };
    directory.finish(&summary, &RunInfo::default()).unwrap();
}

/// A server in a thread of its own, which ends with the test.
struct Running {
    address: SocketAddr,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    fn start(folder: &Path) -> Self {
        Self::of(Folder::open(folder).unwrap())
    }

    fn of(folder: Folder) -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let (told, ready) = mpsc::channel();
        let flag = Arc::clone(&end);
        let tell = move |address| told.send(address).map_err(std::io::Error::other);
        let thread = std::thread::spawn(move || serve(folder, "all".to_owned(), 0, flag, tell));
        Self { address: ready.recv().unwrap(), end, thread: Some(thread) }
    }

    /// Sends a request as it is; the whole answer.
    fn send(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The status and the body of the answer to a form.
    fn post(&self, path: &str, form: &str) -> (u16, String) {
        let answer = self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            self.address,
            form.len()
        ));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// The status and the body of a page.
    fn get(&self, path: &str) -> (u16, String) {
        self.get_as(path, &format!("Host: {}\r\n", self.address))
    }

    fn get_as(&self, path: &str, host: &str) -> (u16, String) {
        let answer = self.send(&format!("GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// A folder with two runs, one of them in a folder of its own, and a secret beside it.
fn with_runs() -> (tempfile::TempDir, PathBuf) {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("results");
    write_run(&folder.join("one"), "first", 1);
    write_run(&folder.join("sweep/points/10"), "tenth", 2);
    write_run(&folder.join("sweep/points/9"), "ninth", 3);
    write_run(&outside.path().join("secret"), "secret", 4);
    (outside, folder)
}

#[test]
fn all_runs_are_listed_and_each_has_its_page() {
    let (_outside, folder) = with_runs();
    let server = Running::start(&folder);
    assert!(server.address.ip().is_loopback());
    let (status, list) = server.get("/");
    assert_eq!(status, 200);
    let places = ["/run/one\"", "/run/sweep/points/9\"", "/run/sweep/points/10\""];
    let places = places.map(|link| list.find(link).unwrap_or_else(|| panic!("{link}: {list}")));
    assert!(places.is_sorted() && !list.contains("secret"), "{list}");
    let (status, page) = server.get("/run/sweep/points/9");
    assert!(status == 200 && page.contains("<h1>ninth</h1>"), "{status} {page}");
    // It is the page that `rocelab report` writes.
    let results = rocelab_results::Results::open(folder.join("sweep/points/9")).unwrap();
    assert!(page == rocelab_report::report_html(&results).unwrap());
    let (status, page) = server.get("/compare?run=one&run=sweep%2Fpoints%2F9");
    assert!(status == 200 && page.contains("<title>first &#x2f; ninth</title>"), "{status} {page}");
    assert_eq!(server.get("/compare?run=one").0, 400);
    assert_eq!(server.get("/compare?run=one&run=none").0, 404);
    assert_eq!(server.get("/else").0, 404);
    // A single run is a folder, too.
    let single = Running::start(&folder.join("one"));
    assert!(single.get("/").1.contains("href=\"/run/one\""));
    assert_eq!(single.get("/run/one").0, 200);
    // Nothing is written.
    assert!(!folder.join("one/report.html").exists());
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let (outside, folder) = with_runs();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(outside.path().join("secret"), folder.join("link")).unwrap();
        // A run with a link in it could show any file.
        write_run(&folder.join("trap"), "trap", 5);
        std::fs::remove_file(folder.join("trap/flows.csv")).unwrap();
        symlink(outside.path().join("secret/flows.csv"), folder.join("trap/flows.csv")).unwrap();
    }
    let server = Running::start(&folder);
    for path in [
        "../secret",
        "one/../../secret",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "..%5csecret",
        "%252e%252e%252fsecret",
        "one/%2e%2e/%2e%2e/secret",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "one%00",
        "./one",
        "one/",
        "one/summary.json",
        "link",
        "trap",
        &outside.path().join("secret").display().to_string(),
    ] {
        for request in
            [format!("/run/{path}"), format!("/compare?run=one&run={path}"), format!("/{path}")]
        {
            let (status, body) = server.get(&request);
            assert!([400, 404].contains(&status), "{request}: {status}");
            assert!(!body.contains("secret"), "{request}: {body}");
        }
    }
    let list = server.get("/").1;
    assert!(!list.contains("trap") && !list.contains("/run/link"), "{list}");
}

/// A name of another site that leads to this machine is not answered.
#[test]
fn others_names_are_refused() {
    let (_outside, folder) = with_runs();
    let server = Running::start(&folder);
    let port = server.address.port();
    for host in [
        format!("Host: evil.example:{port}\r\n"),
        "Host: evil.example\r\n".to_owned(),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
        String::new(),
    ] {
        let (status, body) = server.get_as("/", &host);
        assert!([400, 403].contains(&status), "{host}: {status}");
        assert!(!body.contains("first"), "{host}: {body}");
    }
    for name in ["localhost", "LOCALHOST", "127.0.0.1"] {
        assert_eq!(server.get_as("/", &format!("Host: {name}:{port}\r\n")).0, 200, "{name}");
    }
    // Only reading is possible, and other sites' pages may not read.
    let answer = server.send(&format!(
        "POST / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        server.address
    ));
    assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
    assert!(!answer.to_ascii_lowercase().contains("access-control-allow"), "{answer}");
}

#[test]
fn names_cannot_be_code() {
    let folder = tempfile::tempdir().unwrap();
    write_run(&folder.path().join("a\"><script>alert(1)<"), "<img src=x onerror=alert(2)>", 1);
    write_run(&folder.path().join("half"), "half", 1);
    std::fs::write(folder.path().join("half/summary.json"), "{\"<b>\": 1}").unwrap();
    let server = Running::start(folder.path());
    let (status, list) = server.get("/");
    assert_eq!(status, 200);
    assert!(!list.contains("<script>alert") && !list.contains("<img"), "{list}");
    // What cannot be read is told in its row, and the others are listed.
    assert!(list.contains("summary.json") && list.contains("&lt;img"), "{list}");
    assert_eq!(server.get("/run/half").0, 500);
    let link = "/run/a%22%3E%3Cscript%3Ealert%281%29%3C";
    assert_eq!(server.get(link).0, 200, "{list}");
}

#[test]
fn runs_that_go_on_are_told_with_their_progress() {
    let folder = tempfile::tempdir().unwrap();
    let running = ResultsDir::create(folder.path().join("deep/live"), Overwrite::Refuse).unwrap();
    let server = Running::start(folder.path());
    let state = || -> Value {
        let (status, text) = server.get("/state.json");
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    };
    let begun = state();
    assert_eq!(begun["growing"][0]["name"], "deep/live");
    assert_eq!(begun["growing"][0]["percent"], Value::Null, "unknown is not 0");
    let progress = RunProgress {
        simulated_ps: 2_500_000_000,
        flows_ended: 3,
        flows: 12,
        share: 0.25,
        ..RunProgress::default()
    };
    running.tell_progress(&progress).unwrap();
    let expected = json!({
        "name": "deep/live",
        "state": "running",
        "percent": "25.0",
        "told": "2.50 ms simulated, 3 of 12 flows ended",
    });
    assert_eq!(state()["growing"][0], expected);
    assert!(
        server
            .get("/")
            .1
            .contains("live: running, 25.0 % (2.50 ms simulated, 3 of 12 flows ended)")
    );
    // A run that is not complete has no page.
    assert_eq!(server.get("/run/deep/live").0, 404);
    drop(running);
    assert_eq!(state()["growing"], json!([]));
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let (_outside, folder) = with_runs();
    let server = Running::start(&folder);
    let end = Arc::new(AtomicBool::new(true));
    let port = server.address.port();
    let error = serve(Folder::open(&folder).unwrap(), String::new(), port, end, |_| Ok(()));
    assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
    assert!(Folder::open(&folder.join("one/summary.json")).is_err());
}

/// A page of another site may send a request here, though it cannot read the answer.
#[test]
fn pages_of_other_sites_have_nothing_done() {
    let (_outside, folder) = with_runs();
    let server = Running::start(&folder);
    let host = format!("Host: {}\r\n", server.address);
    for (site, status) in
        [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
    {
        let (found, _) = server.get_as("/", &format!("{host}Sec-Fetch-Site: {site}\r\n"));
        assert_eq!(found, status, "{site}");
    }
}

/// Ctrl-C does not wait for a page that is being made.
#[test]
fn the_end_does_not_wait_for_pages() {
    let (_outside, folder) = with_runs();
    let slow = |_: &Path| {
        std::thread::sleep(Duration::from_secs(20));
        Vec::new()
    };
    let server = Running::of(Folder::open(&folder).unwrap().with_settings(slow));
    let mut stream = TcpStream::connect(server.address).unwrap();
    write!(stream, "GET /run/one HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    drop(server);
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
}

/// A run that is named twice is not compared with itself.
#[test]
fn each_run_is_compared_once() {
    let (_outside, folder) = with_runs();
    let server = Running::start(&folder);
    assert_eq!(server.get("/compare?run=one&run=one").0, 400);
    let two = server.get("/compare?run=one&run=sweep%2Fpoints%2F9");
    let again = server.get("/compare?run=one&run=one&run=sweep%2Fpoints%2F9&run=one");
    assert!(two.0 == 200 && two == again);
    // A form may name more than an address has room for.
    assert_eq!(server.post("/compare", "run=one&run=sweep%2Fpoints%2F9"), two);
    assert_eq!(server.post("/compare", "run=one&run=none").0, 404);
    let many = "run=one&".repeat(20_000) + "run=sweep%2Fpoints%2F9";
    assert_eq!(server.post("/compare", &many), two);
}

#[test]
fn too_many_runs_are_refused_with_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    write_run(&folder.path().join("0"), "many", 0);
    for number in 1..=500 {
        let copy = folder.path().join(number.to_string());
        std::fs::create_dir(&copy).unwrap();
        for file in ["summary.json", "run.json"] {
            std::fs::copy(folder.path().join("0").join(file), copy.join(file)).unwrap();
        }
    }
    let server = Running::start(folder.path());
    let all: Vec<String> = (0..=500).map(|number| format!("run={number}")).collect();
    let (status, text) = server.post("/compare", &all.join("&"));
    assert!(
        status == 400 && text.contains("501 runs") && text.contains("500 at the most"),
        "{text}"
    );
    assert!(text.contains("rocelab compare"), "{text}");
    assert_eq!(server.get(&format!("/compare?{}", all.join("&"))).0, 400);
}

/// Makes runs look like points of a sweep.
fn set_by_sweep(folder: &Path, point: &str, settings: &str) {
    let text = format!("# rocelab 0.0.0, point {point}: {settings}\nseed = 1\n");
    std::fs::write(folder.join("points").join(point).join("point.txt"), text).unwrap();
}

/// Points say what was set for them, and their sweep is compared by one link.
#[test]
fn sweeps_have_one_link() {
    let (_outside, folder) = with_runs();
    set_by_sweep(&folder.join("sweep"), "9", "switch.alpha=1/16 seed=3");
    set_by_sweep(&folder.join("sweep"), "10", "switch.alpha=1/<b> seed=3");
    let server = Running::start(&folder);
    let list = server.get("/").1;
    assert!(list.contains("switch.alpha=1&#x2f;16 seed=3"), "{list}");
    assert!(list.contains("1&#x2f;&lt;b&gt; seed"), "{list}");
    assert_eq!(list.matches("/compare?sweep=sweep\"").count(), 1, "{list}");
    assert!(list.contains(": 2 points"), "{list}");
    let by_sweep = server.get("/compare?sweep=sweep");
    let by_runs = server.get("/compare?run=sweep%2Fpoints%2F9&run=sweep%2Fpoints%2F10");
    assert!(by_sweep.0 == 200 && by_sweep == by_runs);
    let with_run = server.get("/compare?sweep=sweep&run=one");
    assert!(with_run.0 == 200 && with_run.1.contains("<title>3 runs in 1 group<"));
    assert_eq!(server.get("/compare?sweep=one").0, 404);
    // The folder of a sweep itself.
    let own = Running::start(&folder.join("sweep"));
    assert!(own.get("/").1.contains("<a href=\"/compare?sweep=\">all</a>: 2 points"));
    assert_eq!(own.get("/compare?sweep=").0, 200);
}

/// What is not known is neither 0 nor 100 percent.
#[test]
fn progress_that_nobody_knows_has_no_percentage() {
    let folder = tempfile::tempdir().unwrap();
    let running = ResultsDir::create(folder.path().join("live"), Overwrite::Refuse).unwrap();
    let server = Running::start(folder.path());
    let percent = |progress: RunProgress| -> Value {
        running.tell_progress(&progress).unwrap();
        let state: Value = serde_json::from_str(&server.get("/state.json").1).unwrap();
        assert_eq!(state["growing"][0]["state"], "running");
        state["growing"][0]["percent"].clone()
    };
    // An application without an end of its time.
    assert_eq!(percent(RunProgress { operations_ended: 7, ..RunProgress::default() }), Value::Null);
    // All flows are over, and the run goes on.
    let flows = RunProgress { flows: 4, flows_ended: 4, share: 1.0, ..RunProgress::default() };
    assert_eq!(percent(flows), Value::Null);
    let almost = RunProgress { flows: 4_000, share: 0.999_9, ..RunProgress::default() };
    assert_eq!(percent(almost), "99.9");
    let begun = RunProgress { stop_ps: Some(5), ..RunProgress::default() };
    assert_eq!(percent(begun), "0.0");
}

/// Nobody waits for a FIFO: a run with one is no run.
#[test]
#[cfg(unix)]
fn a_fifo_does_not_block() {
    let (_outside, folder) = with_runs();
    for (run, file) in [("fifo", "flows.csv"), ("head", "summary.json"), (".b.partial-7", "lock")] {
        write_run(&folder.join(run), run, 5);
        let path = folder.join(run).join(file);
        let _ = std::fs::remove_file(&path);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
    }
    let server = Running::start(&folder);
    let asked = Instant::now();
    let list = server.get("/").1;
    assert!(list.contains("/run/one") && !list.contains("/run/fifo"), "{list}");
    for run in ["fifo", "head", ".b.partial-7"] {
        assert_eq!(server.get(&format!("/run/{run}")).0, 404);
        assert_eq!(server.get(&format!("/compare?run=one&run={run}")).0, 404);
    }
    assert_eq!(server.get("/state.json").0, 200);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
}

/// The list is loaded again when a run ends, and stays as the reader left it.
#[test]
fn the_list_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..80 {
        write_run(&folder.path().join(format!("run-{number}")), "many", number);
    }
    let server = Running::start(folder.path());
    let Some(mut browser) = Chromium::start() else { return };
    browser.resize(800, 160);
    browser.call("Page.navigate", json!({ "url": format!("http://{}/", server.address) }));
    let wait = |browser: &mut Chromium, expression: &str| {
        for _ in 0..200 {
            if browser.evaluate(expression) == json!(true) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{expression}: {}", browser.evaluate("document.body.textContent"));
    };
    wait(&mut browser, "document.querySelectorAll('tbody tr').length === 80");
    browser.evaluate(
        "(() => {
            const filter = document.getElementById('filter');
            filter.value = 'run-1';
            filter.dispatchEvent(new Event('input'));
            scrollTo(0, 120);
        })()",
    );
    let shown = "[...document.querySelectorAll('tbody tr')].filter((row) => !row.hidden).length";
    assert_eq!(browser.evaluate(shown), json!(11));
    let place = browser.evaluate("scrollY");
    assert_eq!(place, json!(120));
    write_run(&folder.path().join("run-80"), "many", 80);
    wait(&mut browser, "document.querySelectorAll('tbody tr').length === 81");
    assert_eq!(browser.evaluate("document.getElementById('filter').value"), json!("run-1"));
    assert_eq!(browser.evaluate(shown), json!(11));
    assert_eq!(browser.evaluate("scrollY"), place);
    // Many chosen runs are sent as a form, few as an address.
    let method = "(() => { const form = document.getElementById('choice'); form.addEventListener('submit', (event) => event.preventDefault());
        form.requestSubmit(); return form.method; })()";
    assert_eq!(browser.evaluate(method), json!("get"));
    browser.evaluate("document.querySelector('tbody input').value = 'x'.repeat(5000); document.querySelector('tbody input').checked = true");
    assert_eq!(browser.evaluate(method), json!("post"));
}
