//! Congestion controls that users wrote: their modules are loaded before anything is planned, because what they need to be
//! told decides what switches and hosts do. Classes of Python are there before, or not at all.

use rocelab_transport::Algorithm;
use rocelab_transport::congestion_control::wasm::Parameters;

use super::algorithms::named;
use crate::scenario::{Fault, Scenario};

/// Loads every module that the scenario names, unless that was done before.
pub(super) fn load(scenario: &Scenario) -> Result<(), Fault> {
    for named in named(scenario) {
        match named.algorithm {
            Algorithm::Wasm(parameters) if parameters.module.get().is_none() => {
                load_one(scenario, &named.section(), parameters)?;
            }
            Algorithm::Python(parameters) if parameters.loaded.get().is_none() => {
                let problem =
                    "a class of Python can be used by runs that Python starts, and only there";
                let key = format!("{}.class", named.section());
                return Err(Fault::at(key, problem).value(&parameters.class).help(
                    "give the class to `Scenario.run(congestion_control=...)` of the Python package, or choose another algorithm",
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(not(feature = "wasm"))]
fn load_one(_: &Scenario, section: &str, _: &Parameters) -> Result<(), Fault> {
    Err(Fault::at(section, "this program was built without WebAssembly, and cannot load modules")
        .help(
            "build it with `cargo build --release --features wasm`, or the Python package with `pip install \
             --config-settings=build-args=\"--features wasm\" .`",
        ))
}

#[cfg(feature = "wasm")]
fn load_one(scenario: &Scenario, section: &str, parameters: &Parameters) -> Result<(), Fault> {
    use std::sync::Arc;

    use rocelab_transport::congestion_control::Loaded;
    use rocelab_wasm::{GuestAlgorithm, GuestModule, MOST_MODULE, check};

    let key = format!("{section}.path");
    let path = scenario.folder().join(&parameters.path);
    Algorithm::Wasm(parameters.clone()).validate().map_err(|error| {
        let key = format!("{section}.{}", error.key);
        Fault::at(key, error.problem).value(error.value).help(error.fix)
    })?;
    let bytes = rocelab_wasm::read(&path).map_err(|error| {
        Fault::at(&key, format!("`{}` cannot be read: {error}", path.display())).help(format!(
            "give a module of at most {MOST_MODULE} bytes, .wasm or .wat, relative to the scenario's folder"
        ))
    })?;
    let refused =
        |error: rocelab_wasm::LoadError| Fault::at(&key, error.to_string()).help(error.help());
    let module = Arc::new(GuestModule::new(&bytes).map_err(refused)?);
    if let Some(expected) = &parameters.sha256
        && !expected.eq_ignore_ascii_case(module.identity())
    {
        let message = format!("`{}` has {}", path.display(), module.identity());
        let help = "name the module that was meant, or leave `sha256` out";
        return Err(Fault::at(format!("{section}.sha256"), message).help(help));
    }
    let loaded = GuestAlgorithm::new(module, &parameters.parameters, parameters.fuel);
    let loaded = loaded.map_err(|error| {
        let at = format!("{section}.parameters");
        let at = if parameters.parameters.contains_key(&error.key) {
            format!("{at}.{}", error.key)
        } else {
            at
        };
        Fault::at(at, error.problem).help(error.fix)
    })?;
    let findings = check(loaded.module(), loaded.ordered_values(), parameters.fuel);
    findings.and_then(|findings| findings.keeps_nothing()).map_err(refused)?;
    parameters.module.fill(Loaded(Arc::new(loaded)));
    Ok(())
}
