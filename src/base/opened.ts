// What `open` of a provider gives. One of the application may be plain JavaScript: what is no session fails when it is opened, and not when it
// is needed.
import { ProviderError } from './errors.js';

/** The session, which takes part in the call by `method`. @throws ProviderError for nothing, a promise, or anything else without that method */
export function opened<Session extends object>(
  session: Session,
  { provider, method }: { readonly provider: string; readonly method: keyof Session },
): Session {
  const given: unknown = session;
  // That a promise may reject as well is nobody else's trouble.
  if (given instanceof Promise) given.catch(() => {});
  if (typeof given === 'object' && given !== null && typeof session[method] === 'function') return session;
  throw new ProviderError(`The provider ${provider} opened no session.`, { status: null, retryable: true });
}
