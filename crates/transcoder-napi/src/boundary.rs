//! The boundary to Node, and the one file of this crate with unsafe code. What it gives out is safe to use: no shim can
//! read or write what it should not, whatever JavaScript passes.
//!
//! # Why it is sound
//! - **Environment, arguments and arrays** are good for one call. They live in a [`Call`], which only [`enter`] makes,
//!   whose lifetime no function can name, and which is gone when the call is.
//! - **Memory of an array** is where Node says: `length` elements of the kind that was asked for. It stays there during
//!   the call: JavaScript does not run meanwhile, so cannot detach, resize or transfer, and asking for the address has
//!   taken small arrays out of the heap that the collector moves. A detached array, and one that its buffer has become
//!   too short for, have length 0 and are never looked into.
//! - **Aliasing.** Arrays may lie on the same memory. All memory of JavaScript therefore counts as one thing, borrowed
//!   through the `Call`: shared to read, exclusively to write. A step that reads beside writing gets a copy where the
//!   two overlap.
//! - **Threads.** A `SharedArrayBuffer` may be written by others at any time, which no slice may be. It is copied, by
//!   volatile reads and writes of whole elements, for which any bits are a value.
//! - **Panics** do not cross into Node: they become exceptions.
//!
//! Made by hand on Node-API, because one call a frame is all that this crate is for: it costs a third of a generated one.
#![allow(unsafe_code)]

use napi::bindgen_prelude::Object;
use napi::{sys, Env, JsValue};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut, NonNull};

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
    /// A number that may be too large for 32 bits.
    Double(f64),
    /// A string.
    Text(String),
}

/// A function of the addon.
pub trait Function: Fn(&mut Call<'_>) -> Result<Answer, Refusal> + Copy + 'static {}

impl<F: Fn(&mut Call<'_>) -> Result<Answer, Refusal> + Copy + 'static> Function for F {}

/// One call, with its arguments, and with all memory of JavaScript that it may use.
pub struct Call<'call> {
    env: sys::napi_env,
    arguments: [sys::napi_value; ARGUMENTS],
    call: PhantomData<&'call ()>,
}

/// An element type and the kind of typed array that holds it. Any bits are a value of it.
pub trait Element: sealed::Sealed + Copy + 'static {
    /// Node-API's number of the typed array.
    const KIND: sys::napi_typedarray_type;
    /// JavaScript's name of it, with its article.
    const NAME: &'static str;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for i16 {}
}

impl Element for u8 {
    const KIND: sys::napi_typedarray_type = sys::TypedarrayType::uint8_array;
    const NAME: &'static str = "a Uint8Array";
}

impl Element for i16 {
    const KIND: sys::napi_typedarray_type = sys::TypedarrayType::int16_array;
    const NAME: &'static str = "an Int16Array";
}

/// A typed array. Its elements are reached through the [`Call`] that it belongs to.
pub struct Array<'call, T> {
    data: NonNull<T>,
    length: usize,
    /// Other threads may read and write the memory while the call goes on.
    shared: bool,
    call: PhantomData<&'call ()>,
}

impl<T: Element> Array<'_, T> {
    fn overlaps<U>(&self, other: &Array<'_, U>) -> bool {
        let (start, other_start) = (self.data.as_ptr() as usize, other.data.as_ptr() as usize);
        start < other_start + other.length * size_of::<U>()
            && other_start < start + self.length * size_of::<T>()
    }

    fn copy(&self) -> Vec<T> {
        // SAFETY: every place is below the length.
        let element = |place| unsafe { self.data.add(place).read_volatile() };
        (0..self.length).map(element).collect()
    }
}

impl<'call> Call<'call> {
    /// The typed array at a place.
    #[inline(always)]
    pub fn array<T: Element>(&self, place: usize) -> Result<Array<'call, T>, Refusal> {
        let (mut kind, mut length, mut own) = (-1, 0, false);
        let (mut data, mut buffer) = (null_mut(), null_mut());
        // SAFETY: environment and value are those of this call; the out-parameters outlive the calls, null is not asked
        // for. `buffer` is set when it is asked about.
        let known = unsafe {
            sys::napi_get_typedarray_info(
                self.env,
                self.arguments[place],
                &mut kind,
                &mut length,
                &mut data,
                &mut buffer,
                null_mut(),
            ) == sys::Status::napi_ok
                && kind == T::KIND
                // The other kind of buffer is the one that threads share.
                && sys::napi_is_arraybuffer(self.env, buffer, &mut own) == sys::Status::napi_ok
        };
        // Memory that another addon brought in may begin anywhere.
        let data: *mut T = data.cast();
        match NonNull::new(data) {
            Some(data) if known && data.is_aligned() => Ok(Array {
                data,
                length,
                shared: !own,
                call: PhantomData,
            }),
            _ if known && length == 0 => Ok(Array {
                data: NonNull::dangling(),
                length,
                shared: false,
                call: PhantomData,
            }),
            _ => Err(refusal(place, T::NAME)),
        }
    }

    /// The elements of an array, to read.
    pub fn read<T: Element>(&self, array: &Array<'call, T>) -> Cow<'_, [T]> {
        if array.shared {
            return Cow::Owned(array.copy());
        }
        // SAFETY: aligned memory of `length` elements, which nothing writes while `self` is borrowed.
        Cow::Borrowed(unsafe { std::slice::from_raw_parts(array.data.as_ptr(), array.length) })
    }

    /// Gives the elements of an array to `task`, to write.
    pub fn fill<T: Element, R>(
        &mut self,
        array: &Array<'call, T>,
        task: impl FnOnce(&mut [T]) -> R,
    ) -> R {
        if array.shared {
            let mut elements = array.copy();
            let result = task(&mut elements);
            for (place, element) in elements.into_iter().enumerate() {
                // SAFETY: every place is below the length.
                unsafe { array.data.add(place).write_volatile(element) };
            }
            return result;
        }
        // SAFETY: aligned memory of `length` elements, which nothing else reads or writes: `self` is borrowed
        // exclusively.
        task(unsafe { std::slice::from_raw_parts_mut(array.data.as_ptr(), array.length) })
    }

    /// Gives `task` the elements of one array to read beside those of another to write.
    pub fn convert<T: Element, U: Element, R>(
        &mut self,
        input: &Array<'call, T>,
        output: &Array<'call, U>,
        task: impl FnOnce(&[T], &mut [U]) -> R,
    ) -> R {
        if input.shared || input.overlaps(output) {
            let copy = input.copy();
            return self.fill(output, |to| task(&copy, to));
        }
        // SAFETY: as in `read`; what `fill` gives to write lies elsewhere.
        let from = unsafe { std::slice::from_raw_parts(input.data.as_ptr(), input.length) };
        self.fill(output, |to| task(from, to))
    }

    /// The number at a place. Node rounds and wraps what is no 32-bit number.
    pub fn number(&self, place: usize) -> Result<u32, Refusal> {
        let mut number = 0;
        // SAFETY: environment and value are those of this call; the out-parameter outlives it.
        let status =
            unsafe { sys::napi_get_value_uint32(self.env, self.arguments[place], &mut number) };
        match status {
            sys::Status::napi_ok => Ok(number),
            _ => Err(refusal(place, "a number")),
        }
    }

    /// Copies the text at a place as UTF-8, followed by a zero byte: as many whole characters as fit. Without any room it
    /// only measures. Gives the length.
    pub fn copy_text(&self, place: usize, room: &mut [u8]) -> Result<usize, Refusal> {
        let mut length = 0;
        let data = match room.len() {
            0 => null_mut(),
            _ => room.as_mut_ptr().cast(),
        };
        // SAFETY: as in `number`; Node writes at most `room.len()` bytes, and asks for no more.
        let status = unsafe {
            let text = self.arguments[place];
            sys::napi_get_value_string_utf8(self.env, text, data, room.len(), &mut length)
        };
        match status {
            sys::Status::napi_ok => Ok(length),
            _ => Err(refusal(place, "a string")),
        }
    }
}

#[cold]
fn refusal(place: usize, expected: &str) -> Refusal {
    format!("argument {place} must be {expected}")
}

/// What Node calls for a function `F`.
unsafe extern "C" fn enter<F: Function>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    let mut arguments = [null_mut(); ARGUMENTS];
    let mut count = ARGUMENTS;
    // SAFETY: Node gives a live environment and info, and fills all places, missing arguments with `undefined`. `define`
    // was given an `F`, which has no bytes and may be copied: any aligned address has one.
    let function = unsafe {
        let places = arguments.as_mut_ptr();
        sys::napi_get_cb_info(env, info, &mut count, places, null_mut(), null_mut());
        NonNull::<F>::dangling().read()
    };
    let mut call = Call {
        env,
        arguments,
        call: PhantomData,
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| function(&mut call)))
        .unwrap_or_else(|_| Err("the transcoder panicked".to_owned()));
    match outcome {
        Ok(Answer::Nothing) => null_mut(),
        other => answer(env, other),
    }
}

/// Makes an answer a value of JavaScript, a refusal an exception.
fn answer(env: sys::napi_env, outcome: Result<Answer, Refusal>) -> sys::napi_value {
    let mut value = null_mut();
    // SAFETY: the environment is that of a call, the out-parameter outlives the calls, texts are given with their length
    // or end with a zero byte.
    unsafe {
        match outcome {
            Ok(Answer::Nothing) => sys::Status::napi_ok,
            Ok(Answer::Flag(flag)) => sys::napi_get_boolean(env, flag, &mut value),
            Ok(Answer::Number(number)) => sys::napi_create_uint32(env, number, &mut value),
            Ok(Answer::Double(number)) => sys::napi_create_double(env, number, &mut value),
            Ok(Answer::Text(text)) => {
                let length = text.len() as isize;
                sys::napi_create_string_utf8(env, text.as_ptr().cast(), length, &mut value)
            }
            Err(refusal) => {
                let message = refusal.replace('\0', "") + "\0";
                sys::napi_throw_error(env, null(), message.as_ptr().cast())
            }
        };
    }
    value
}

/// Adds a function to the exports of the addon.
pub fn define<F: Function>(env: &Env, exports: &Object<'_>, name: &str, _function: F) {
    const { assert!(size_of::<F>() == 0, "functions of the addon hold nothing") };
    let (env, length) = (env.raw(), name.len() as isize);
    let (mut key, mut value) = (null_mut(), null_mut());
    // SAFETY: environment and exports are alive, as their types say; Node keeps a copy of the name, which is given with its
    // length.
    unsafe {
        let name = name.as_ptr().cast();
        sys::napi_create_function(env, name, length, Some(enter::<F>), null_mut(), &mut value);
        sys::napi_create_string_utf8(env, name, length, &mut key);
        sys::napi_set_property(env, exports.raw(), key, value);
    }
}
