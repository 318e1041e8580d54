//! Typed arrays of JavaScript as slices of Rust.
#![allow(unsafe_code)]

use napi::sys;
use std::borrow::Cow;
use std::marker::PhantomData;

/// An element type and the kind of typed array that holds it.
pub trait Element: Copy + 'static {
    /// Node-API's number of the typed array.
    const KIND: sys::napi_typedarray_type;
    /// JavaScript's name of it.
    const NAME: &'static str;
}

impl Element for u8 {
    const KIND: sys::napi_typedarray_type = sys::TypedarrayType::uint8_array;
    const NAME: &'static str = "Uint8Array";
}

impl Element for i16 {
    const KIND: sys::napi_typedarray_type = sys::TypedarrayType::int16_array;
    const NAME: &'static str = "Int16Array";
}

/// A typed array, valid while the JavaScript call lasts.
pub struct View<'call, T> {
    data: *mut T,
    length: usize,
    call: PhantomData<&'call ()>,
}

impl<T: Element> View<'_, T> {
    /// The typed array that a value is.
    ///
    /// # Safety
    /// Environment and value must be those of a call that goes on for as long as the view lives.
    pub unsafe fn of(env: sys::napi_env, value: sys::napi_value) -> Result<Self, String> {
        let mut kind = -1;
        let mut length = 0;
        let mut data = std::ptr::null_mut();
        // SAFETY: the caller vouches for environment and value; the out-parameters outlive the call, null ones are not asked.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                env,
                value,
                &mut kind,
                &mut length,
                &mut data,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        };
        if status != sys::Status::napi_ok || kind != T::KIND {
            return Err(format!("expected a {}", T::NAME));
        }
        Ok(View {
            data: data.cast(),
            length,
            call: PhantomData,
        })
    }

    fn overlaps<U>(&self, other: &View<'_, U>) -> bool {
        let (start, other_start) = (self.data as usize, other.data as usize);
        start < other_start + other.length * size_of::<U>()
            && other_start < start + self.length * size_of::<T>()
    }

    /// The elements, to read.
    pub fn read(&self) -> &[T] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: Node vouches for `length` aligned elements at `data`. JavaScript cannot run, so cannot write, detach or
        // resize, before the call returns, and this crate writes only through `pair`, which sees to it that what it
        // writes to is not read. Arrays on memory shared between threads are copied before they come here.
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }

    /// The elements, to write.
    pub fn write(&mut self) -> &mut [T] {
        if self.length == 0 {
            return &mut [];
        }
        // SAFETY: as in `read`, and every slice that `read` gave out on the same memory is gone: the shims write last, or
        // through `pair`.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.length) }
    }
}

/// An input to read beside an output to write. Where they overlap, the input is a copy.
pub fn pair<'a, T: Element, U: Element>(
    input: &'a View<'_, T>,
    output: &'a mut View<'_, U>,
) -> (Cow<'a, [T]>, &'a mut [U]) {
    let from = if input.overlaps(output) {
        Cow::Owned(input.read().to_vec())
    } else {
        Cow::Borrowed(input.read())
    };
    (from, output.write())
}
