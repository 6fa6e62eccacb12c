//! Switches that learn and forget where hosts are.

use crate::support::{assert_cuts_change_nothing, clos, flows};

const PAIRS: &[(u32, u32)] = &[(0, 2), (1, 3), (3, 0)];

/// Addresses age, and a router asks for them again; or drops what it cannot address.
#[test]
fn routers_that_forget() {
    for more in ["", "drop_incomplete_arp = true\n"] {
        let more = format!(
            "[layer2]\nlearning = {{ mac_ageing = \"30us\", arp_timeout = \"110us\" }}\n{more}\
             entry = [{{ hosts = [\"host-3\"], mac = \"gone\" }}, {{ hosts = [\"host-0\"], arp = \"gone\" }}]\n\
             [congestion_control.none]\n[[failure]]\nkind = \"host-down\"\nhost = \"host-2\"\nat = \"30us\"\n\
             lasts = \"150us\"\n"
        );
        let text = clos("[roce]\nack_timeout = 5", &format!("{more}{}", flows("1MB", PAIRS)));
        assert_cuts_change_nothing(&text, &["/layer2/mac_aged", "/drops/total"]);
    }
}

/// Addresses that are asked for again and again: whoever goes on from a checkpoint has when every host was
/// asked for last, and so has the checkpoint after it.
#[test]
fn routers_that_ask_all_the_time() {
    let text = clos(
        "",
        &format!(
            "[layer2]\nlearning = {{ mac_ageing = \"1us\", arp_timeout = \"9us\" }}\n\
             [congestion_control.none]\n{}",
            flows("1MB", &[(0, 2), (3, 1)])
        ),
    );
    assert_cuts_change_nothing(&text, &["/layer2/mac_aged", "/layer2/floods"]);
}

/// Bridges learn, flood, and forget as the spanning tree changes.
#[test]
fn bridges_whose_tree_changes() {
    let more = "[layer2]\nlearning = { mac_ageing = \"40us\" }\n[congestion_control.none]\n\
         [[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"50us\"\nlasts = \"80us\"\n";
    let top = "[roce]\nversion = 1\nack_timeout = 5";
    let text = clos(top, &format!("{more}{}", flows("1MB", PAIRS)));
    let evidence = ["/layer2/floods", "/layer2/mac_learnt", "/drops/link_down"];
    assert_cuts_change_nothing(&text, &evidence);
}

/// Static routes in a circle: hops are counted.
#[test]
fn routes_in_a_circle() {
    let more = "[[route]]\nswitch = \"leaf-1\"\ndestinations = [\"host-0\"]\nnext_hop = \"spine-0\"\n\
         [[route]]\nswitch = \"spine-0\"\ndestinations = [\"host-0\"]\nnext_hop = \"leaf-1\"\n\
         [congestion_control.none]\n";
    let top = "stop = \"200us\"\n[roce]\nack_timeout = 5\nhop_limit = 9";
    let text = clos(top, &format!("{more}{}", flows("200KB", PAIRS)));
    assert_cuts_change_nothing(&text, &["/drops/ttl_expired"]);
}

/// Bridges of two kinds, side by side.
#[test]
fn bridges_of_which_some_do_not_flood() {
    let more = "[layer2]\nlearning = { mac_ageing = \"30us\" }\nentry = [{ hosts = [\"host-2\"], mac = \"gone\" }]\n\
         [congestion_control.none]\n[[switch.override]]\nswitches = [\"leaf-1\"]\nforwarding_plane = \"bridge-no-flood\"\n";
    let top = "[roce]\nversion = 1\nack_timeout = 3";
    let text = clos(top, &format!("{more}{}", flows("300KB", PAIRS)));
    let evidence = ["/layer2/floods", "/layer2/mac_learnt", "/drops/unknown_destination"];
    assert_cuts_change_nothing(&text, &evidence);
}
