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
    /// Other threads may read and write the memory while the call goes on.
    shared: bool,
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
        let mut buffer = std::ptr::null_mut();
        let mut own = false;
        // SAFETY: the caller vouches for environment and value; the out-parameters outlive the calls, null ones are not
        // asked. `buffer` is asked about only when the first call has set it.
        let status = unsafe {
            let status = sys::napi_get_typedarray_info(
                env,
                value,
                &mut kind,
                &mut length,
                &mut data,
                &mut buffer,
                std::ptr::null_mut(),
            );
            if status == sys::Status::napi_ok {
                sys::napi_is_arraybuffer(env, buffer, &mut own)
            } else {
                status
            }
        };
        if status != sys::Status::napi_ok || kind != T::KIND {
            return Err(format!("expected a {}", T::NAME));
        }
        Ok(View {
            data: data.cast(),
            length,
            // The other kind of buffer is the one that threads share.
            shared: !own,
            call: PhantomData,
        })
    }

    fn overlaps<U>(&self, other: &View<'_, U>) -> bool {
        let (start, other_start) = (self.data as usize, other.data as usize);
        start < other_start + other.length * size_of::<U>()
            && other_start < start + self.length * size_of::<T>()
    }

    /// The elements as they are now.
    fn copy(&self) -> Vec<T> {
        // SAFETY: Node vouches for `length` aligned elements at `data`. Volatile reads take each once, whatever other
        // threads write meanwhile: any bits are a valid element.
        let element = |place| unsafe { self.data.add(place).read_volatile() };
        (0..self.length).map(element).collect()
    }

    /// The elements, to read.
    pub fn read(&self) -> Cow<'_, [T]> {
        if self.length == 0 {
            return Cow::Borrowed(&[]);
        }
        if self.shared {
            return Cow::Owned(self.copy());
        }
        // SAFETY: Node vouches for `length` aligned elements at `data`. No other thread has them, and JavaScript cannot
        // run, so cannot write, detach or resize, before the call returns. This crate writes only through `fill`, which
        // takes what is read from the same memory as a copy: see `convert`.
        Cow::Borrowed(unsafe { std::slice::from_raw_parts(self.data, self.length) })
    }

    /// Gives the elements to `task`, to write. No slice of the same memory may be in use, other than in `task`'s result.
    pub fn fill<R>(&mut self, task: impl FnOnce(&mut [T]) -> R) -> R {
        if self.length == 0 {
            return task(&mut []);
        }
        if self.shared {
            let mut elements = self.copy();
            let result = task(&mut elements);
            for (place, element) in elements.into_iter().enumerate() {
                // SAFETY: as in `copy`; whoever reads meanwhile sees the old or the new element.
                unsafe { self.data.add(place).write_volatile(element) };
            }
            return result;
        }
        // SAFETY: as in `read`, and every slice that `read` gave out on the same memory is gone: the shims fill last, or
        // through `convert`.
        task(unsafe { std::slice::from_raw_parts_mut(self.data, self.length) })
    }
}

/// Gives `task` an input to read beside an output to write. Where they overlap, the input is a copy.
pub fn convert<T: Element, U: Element, R>(
    input: &View<'_, T>,
    output: &mut View<'_, U>,
    task: impl FnOnce(&[T], &mut [U]) -> R,
) -> R {
    let from = if input.overlaps(output) {
        Cow::Owned(input.copy())
    } else {
        input.read()
    };
    output.fill(|to| task(&from, to))
}
