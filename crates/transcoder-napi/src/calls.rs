//! Functions of the addon as JavaScript calls them: arguments in, one answer out, errors and panics as exceptions.
//! Made by hand on Node-API, because one call a frame is all that this crate is for: it costs a third of a generated one.
#![allow(unsafe_code)]

use crate::views::{Element, View};
use napi::sys;
use std::ffi::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;

/// No function takes more arguments.
const ARGUMENTS: usize = 4;

/// What is said to the caller when a function cannot do what it was asked.
pub type Refusal = String;

/// What a function gives back.
pub enum Answer {
    /// `undefined`.
    Nothing,
    /// A boolean.
    Flag(bool),
    /// A number.
    Number(u32),
    /// A string.
    Text(String),
}

/// One call, with its arguments.
pub struct Call {
    env: sys::napi_env,
    arguments: [sys::napi_value; ARGUMENTS],
}

/// A function of the addon.
pub type Function = fn(&Call) -> Result<Answer, Refusal>;

impl Call {
    /// The typed array at a place.
    pub fn view<T: Element>(&self, place: usize) -> Result<View<'_, T>, Refusal> {
        // SAFETY: environment and value are those of a call that is going on, as long as `self` lives.
        unsafe { View::of(self.env, self.arguments[place]) }
    }

    /// The number at a place. Node rounds and wraps what is no 32-bit number.
    pub fn number(&self, place: usize) -> Result<u32, Refusal> {
        let mut number = 0;
        // SAFETY: as in `view`; the out-parameter outlives the call.
        let status =
            unsafe { sys::napi_get_value_uint32(self.env, self.arguments[place], &mut number) };
        if status == sys::Status::napi_ok {
            Ok(number)
        } else {
            Err(format!("argument {place} must be a number"))
        }
    }

    /// Gives the text at a place to `task`, as UTF-8.
    pub fn with_text<R>(&self, place: usize, task: impl FnOnce(&[u8]) -> R) -> Result<R, Refusal> {
        let mut buffer = [0u8; 1024];
        let length = self.copy_text(place, &mut buffer)?;
        // Node writes whole characters and a zero byte: a text that left no room for one more may have been cut.
        if length + 4 < buffer.len() {
            return Ok(task(&buffer[..length]));
        }
        let mut longer = vec![0; self.copy_text(place, &mut [])? + 1];
        let length = self.copy_text(place, &mut longer)?;
        Ok(task(&longer[..length]))
    }

    /// Copies as much as fits, or measures the text when there is no room at all.
    fn copy_text(&self, place: usize, buffer: &mut [u8]) -> Result<usize, Refusal> {
        let mut length = 0;
        let data: *mut c_char = match buffer.len() {
            0 => null_mut(),
            _ => buffer.as_mut_ptr().cast(),
        };
        // SAFETY: as in `view`; Node writes at most `buffer.len()` bytes.
        let status = unsafe {
            sys::napi_get_value_string_utf8(
                self.env,
                self.arguments[place],
                data,
                buffer.len(),
                &mut length,
            )
        };
        if status == sys::Status::napi_ok {
            Ok(length)
        } else {
            Err(format!("argument {place} must be a string"))
        }
    }
}

/// What Node calls: `data` is the [`Function`].
unsafe extern "C" fn enter(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let mut call = Call {
        env,
        arguments: [null_mut(); ARGUMENTS],
    };
    let mut count = ARGUMENTS;
    let mut data = null_mut();
    // SAFETY: Node gives a live environment and info, and fills `ARGUMENTS` places, missing arguments with `undefined`.
    // `data` is what `define` gave: a `Function`.
    let function = unsafe {
        sys::napi_get_cb_info(
            env,
            info,
            &mut count,
            call.arguments.as_mut_ptr(),
            null_mut(),
            &mut data,
        );
        std::mem::transmute::<*mut c_void, Function>(data)
    };
    let mut value = null_mut();
    match catch_unwind(AssertUnwindSafe(|| function(&call))) {
        Ok(Ok(Answer::Nothing)) => {}
        // SAFETY: the environment is live, the out-parameters outlive the calls, texts are given with their length.
        Ok(Ok(Answer::Flag(flag))) => unsafe {
            sys::napi_get_boolean(env, flag, &mut value);
        },
        Ok(Ok(Answer::Number(number))) => unsafe {
            sys::napi_create_uint32(env, number, &mut value);
        },
        Ok(Ok(Answer::Text(text))) => unsafe {
            let length = text.len() as isize;
            sys::napi_create_string_utf8(env, text.as_ptr().cast(), length, &mut value);
        },
        Ok(Err(refusal)) => throw(env, refusal),
        Err(_) => throw(env, "the transcoder panicked".to_owned()),
    }
    value
}

fn throw(env: sys::napi_env, message: String) {
    let message: String = message.chars().filter(|&letter| letter != '\0').collect();
    let message = message + "\0";
    // SAFETY: the environment is live, the message ends with a zero byte.
    unsafe {
        sys::napi_throw_error(env, std::ptr::null(), message.as_ptr().cast());
    }
}

/// Adds a function to the exports of the addon.
///
/// # Safety
/// `env` and `exports` must be those of the module that is being loaded.
pub unsafe fn define(env: sys::napi_env, exports: sys::napi_value, name: &str, function: Function) {
    let mut value = null_mut();
    // SAFETY: the caller vouches for environment and exports; the name is given with its length and a copy is kept of it.
    unsafe {
        sys::napi_create_function(
            env,
            name.as_ptr().cast(),
            name.len() as isize,
            Some(enter),
            function as *mut c_void,
            &mut value,
        );
        let mut key = null_mut();
        sys::napi_create_string_utf8(env, name.as_ptr().cast(), name.len() as isize, &mut key);
        sys::napi_set_property(env, exports, key, value);
    }
}
