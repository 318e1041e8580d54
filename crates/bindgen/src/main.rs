//! `bindgen INPUT.wasm OUTPUT_FOLDER`: the `web` bindings of a WebAssembly module built with wasm-bindgen.

use std::env::args;
use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let [input, output] = match <[String; 2]>::try_from(args().skip(1).collect::<Vec<_>>()) {
        Ok(paths) => paths,
        Err(_) => {
            eprintln!("usage: bindgen INPUT.wasm OUTPUT_FOLDER");
            return ExitCode::from(2);
        }
    };
    let result = Bindgen::new()
        .input_path(input)
        .web(true)
        .and_then(|bindgen| bindgen.typescript(true).generate(output));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bindgen: {error:#}");
            ExitCode::FAILURE
        }
    }
}
