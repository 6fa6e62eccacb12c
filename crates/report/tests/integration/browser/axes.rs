//! Marks of axes: every range has some, and their texts differ.

use serde_json::{Value, json};

use super::chromium::Chromium;

/// The functions that choose marks, without a page.
const FORMAT: &str = include_str!("../../../assets/js/format.js");

/// The value of an expression about them.
fn evaluate(browser: &mut Chromium, expression: &str) -> Value {
    let data = "const data = { begin_ps: 2e12, end_ps: 2e12 + 1e8 };";
    browser.evaluate(&format!("(() => {{ {data} {FORMAT} return {expression}; }})()"))
}

#[test]
fn a_logarithmic_axis_of_near_values_has_marks() {
    let Some(mut browser) = Chromium::start() else { return };
    let marks = evaluate(&mut browser, "logTicks(18, 92)");
    assert_eq!(marks, json!([20, 40, 60, 80]));
    let texts = evaluate(&mut browser, "tickTexts('time', logTicks(18e9, 19.5e9), true)");
    assert_eq!(texts, json!(["18 ms", "18.5 ms", "19 ms", "19.5 ms"]));
    // Of many powers of ten some are left out, so that the texts do not overlap.
    let marks = evaluate(&mut browser, "logTicks(1, 1e12, 5)");
    assert_eq!(marks, json!([1, 1_000, 1_000_000, 1_000_000_000, 1_000_000_000_000_u64]));
}

/// For many ranges, wide and narrow, near zero and far: at least two marks, in order, within the range, with
/// different texts.
#[test]
fn axes_have_texts_whatever_the_range() {
    let Some(mut browser) = Chromium::start() else { return };
    let wrong = evaluate(
        &mut browser,
        "[true, false].flatMap((log) => ['ratio', 'time', 'bytes', 'rate', 'count'].flatMap((quantity) => {
            const wrong = [];
            for (let power = 0; power < 14; power++) {
                for (const low of [1, 1.7, 2.5, 6.3, 9.9]) {
                    for (const width of [1.02, 1.3, 2, 4, 9, 30, 1e3, 1e6]) {
                        const from = log || power > 12 ? low * 10 ** power : 0;
                        const to = low * 10 ** power * width;
                        const ticks = log ? logTicks(from, to, 6) : linearTicks(from, to, 6);
                        const texts = tickTexts(quantity, ticks, log, to);
                        const good = ticks.length >= 2 && ticks.length <= 9 && new Set(texts).size === texts.length
                            && ticks.every((tick, at) => tick >= from * 0.998 && tick <= to * 1.002 && (at === 0 || tick > ticks[at - 1]))
                            && !texts.some((text) => text.startsWith('-'));
                        if (!good) wrong.push(`${quantity} ${log} ${from} to ${to}: ${texts}`);
                    }
                }
            }
            return wrong.slice(0, 3);
        }))",
    );
    assert_eq!(wrong, json!([]));
    // A short run that begins late: seconds that differ in their seventh decimal.
    let texts = evaluate(
        &mut browser,
        "tickTexts('moment', linearTicks(2e12, 2e12 + 1e8, 4), false, 2e12)",
    );
    assert_eq!(texts, json!(["2,000,000", "2,000,050", "2,000,100"]));
}

/// The title of an axis says whether it is logarithmic, and otherwise its unit.
#[test]
fn titles_of_axes_tell_their_kind() {
    let Some(mut browser) = Chromium::start() else { return };
    for (call, title) in [
        ("axisTitle('Flow size', 'bytes', 1e6, true)", "Flow size (log)"),
        ("axisTitle('Flow size', 'bytes', 1e6, false)", "Flow size (MB)"),
        ("axisTitle('Slowdown', 'ratio', 5e6, true)", "Slowdown (log)"),
        ("axisTitle('Slowdown', 'ratio', 5e6, false)", "Slowdown"),
    ] {
        assert_eq!(evaluate(&mut browser, call), json!(title));
    }
}

/// Numbers keep three digits, whatever their size.
#[test]
fn numbers_keep_three_digits() {
    let Some(mut browser) = Chromium::start() else { return };
    for (call, text) in [
        ("format('ratio', 12)", "0.0000120"),
        ("format('ratio', 1234567)", "1.235"),
        ("format('count', 0.0125)", "0.0125"),
        ("format('count', 12)", "12"),
        ("format('count', 0)", "0"),
        ("significant(0.00123, 2)", "0.00123"),
        ("significant(2, 2)", "2.00"),
    ] {
        assert_eq!(evaluate(&mut browser, call), json!(text), "{call}");
    }
}
