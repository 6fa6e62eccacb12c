//! `rocelab man`.

use crate::program::Sandbox;

#[test]
fn all_commands_have_a_page_with_examples() {
    let sandbox = Sandbox::new();
    let answer = sandbox.succeeds(&["man", "pages/man1"]);
    let pages = sandbox.files("pages/man1");
    assert_eq!(answer, format!("{} manual pages: pages/man1\n", pages.len()));
    for name in
        ["rocelab", "rocelab-run", "rocelab-topo-show", "rocelab-pcap-decode", "rocelab-man"]
    {
        let page = pages.get(&format!("{name}.1")).unwrap_or_else(|| panic!("no {name}.1"));
        let page = String::from_utf8_lossy(page);
        assert!(page.contains(".TH ") && page.contains("Examples:"), "{page}");
    }
    // Nothing but the program says what is on them: no time, no machine.
    sandbox.succeeds(&["man", "again"]);
    assert_eq!(sandbox.files("again"), pages);
}

#[test]
fn pages_are_replaced_only_when_asked() {
    let sandbox = Sandbox::new();
    sandbox.write("pages/rocelab-run.1", "mine");
    let ended = sandbox.rocelab(&["man", "pages"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    let expected = "error: DIR = pages: pages/rocelab-run.1 exists; replace it with --force\n";
    assert_eq!(ended.stderr, expected);
    assert_eq!(sandbox.tree(), ["pages", "pages/rocelab-run.1"]);
    sandbox.succeeds(&["man", "pages", "--force"]);
    assert_ne!(sandbox.text("pages/rocelab-run.1"), "mine");
}

#[test]
fn one_page_goes_to_standard_output() {
    let sandbox = Sandbox::new();
    assert!(sandbox.succeeds(&["man"]).contains(".TH rocelab 1"));
    let page = sandbox.succeeds(&["man", "--page", "rocelab-pcap-verify"]);
    assert!(page.contains(".TH rocelab-pcap-verify 1"), "{page}");
    let ended = sandbox.rocelab(&["man", "--page", "rocelab-fly"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("there is no such page; name one of rocelab, "), "{ended:?}");
}
