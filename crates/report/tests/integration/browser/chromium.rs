//! Headless Chromium, controlled by its DevTools protocol through two pipes: messages are JSON,
//! each followed by a zero byte. It needs no driver, no port and no other program.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser with one page. Dropping it ends the browser.
pub(crate) struct Chromium {
    process: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    messages: u64,
    /// Events that the browser sent.
    events: Vec<Value>,
    /// Its profile and the pipes.
    _folder: TempDir,
}

/// The path of Chromium, if it is installed.
fn program() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |one| one.join(name)))
        .find(|path| path.is_file())
}

impl Chromium {
    /// Starts the browser with an empty page; `None`, and a note, if there is no Chromium.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            println!("skipped: no Chromium is installed");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (to, from) = (folder.path().join("to"), folder.path().join("from"));
        let made = Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo");
        assert!(made.success());
        // The shell puts the pipes where Chromium expects them: descriptors 3 and 4.
        let process = Command::new("sh")
            .args(["-c", r#"folder=$0; exec "$@" 3<"$folder/to" 4>"$folder/from""#])
            .arg(folder.path())
            .arg(program)
            .args([
                "--remote-debugging-pipe",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--window-size=1280,900",
            ])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium starts");
        let to = OpenOptions::new().write(true).open(to).expect("a pipe");
        let from = BufReader::new(File::open(from).expect("a pipe"));
        let mut browser = Self {
            process,
            to,
            from,
            session: None,
            messages: 0,
            events: Vec::new(),
            _folder: folder,
        };
        browser.attach();
        Some(browser)
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = self.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Opens a file as a double click would, and waits until its scripts are done.
    pub(crate) fn open(&mut self, path: &Path) {
        self.call("Page.navigate", json!({ "url": format!("file://{}", path.display()) }));
        for _ in 0..600 {
            if self.evaluate("document.documentElement?.dataset.ready ?? null").is_string() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{} is not ready after 30 s: {:#?}", path.display(), self.complaints());
    }

    /// The value of a JavaScript expression; if it is a promise, of the promise.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        let failure = answer.get("exceptionDetails");
        assert!(failure.is_none(), "{expression}: {failure:?}");
        answer["result"]["value"].clone()
    }

    /// Sets the size of the window (CSS pixels).
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// The page as PDF, as the browser's dialogue would print it on A4.
    pub(crate) fn print(&mut self) -> Vec<u8> {
        let settings = json!({ "preferCSSPageSize": true, "printBackground": true });
        let pdf = self.call("Page.printToPDF", settings);
        decoded(pdf["data"].as_str().expect("a document"))
    }

    /// Presses and releases a key, by its DevTools name, such as `Tab` or `ArrowRight`.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            _ => (u32::from(key.as_bytes()[0]), key),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
            });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// All problems so far: exceptions, console messages, and log entries of the browser.
    pub(crate) fn complaints(&mut self) -> Vec<Value> {
        self.evaluate("0");
        let kinds = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        self.told(&kinds)
    }

    /// Addresses that the page requested, without its own and those that it created itself.
    pub(crate) fn requests(&mut self, page: &Path) -> Vec<String> {
        self.evaluate("0");
        let own = format!("file://{}", page.display());
        self.told(&["Network.requestWillBeSent"])
            .iter()
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .filter(|url| *url != own && !url.starts_with("data:") && !url.starts_with("blob:"))
            .map(str::to_owned)
            .collect()
    }

    fn told(&self, kinds: &[&str]) -> Vec<Value> {
        let is_one =
            |event: &&Value| event["method"].as_str().is_some_and(|it| kinds.contains(&it));
        self.events.iter().filter(is_one).cloned().collect()
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.messages += 1;
        let mut message = json!({ "id": self.messages, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        write!(self.to, "{message}\0").expect("Chromium listens");
        loop {
            let mut text = Vec::new();
            self.from.read_until(0, &mut text).expect("Chromium answers");
            assert_eq!(text.pop(), Some(0), "Chromium ended at {method}");
            let answer: Value = serde_json::from_slice(&text).expect("JSON");
            if answer["id"] != self.messages {
                self.events.push(answer);
                continue;
            }
            assert!(answer.get("error").is_none(), "{method}: {answer}");
            return answer["result"].clone();
        }
    }
}

/// The bytes of a text in Base64 (RFC 4648).
fn decoded(text: &str) -> Vec<u8> {
    let digit = |one: u8| match one {
        b'A'..=b'Z' => Some(one - b'A'),
        b'a'..=b'z' => Some(one - b'a' + 26),
        b'0'..=b'9' => Some(one - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).map(u32::from).collect();
    let bytes = digits.chunks(4).flat_map(|group| {
        let bits = (0..4).fold(0, |bits, place| bits << 6 | group.get(place).unwrap_or(&0));
        bits.to_be_bytes().into_iter().skip(1).take(group.len() - 1)
    });
    bytes.collect()
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The browser ends when the pipe is closed; this also ends one that hangs.
        let _ = write!(self.to, "{}\0", json!({ "id": 0, "method": "Browser.close" }));
        for _ in 0..40 {
            if let Ok(Some(_)) = self.process.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
