// Fields of a request that a vendor documents and an option of ours does not have.
import { ConfigError } from '../../base/errors.js';
import { requireObject } from '../../base/option-checks.js';

/** The option `extraBody`, checked. `own`: fields that have a place of their own. @throws ConfigError */
export function checkExtraBody(value: unknown, own: readonly string[]): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  const body = requireObject(value as Record<string, unknown>, 'extraBody');
  const taken = Object.keys(body).find((field) => own.includes(field));
  if (taken === undefined) return { ...body };
  throw new ConfigError('CONFIG_CONFLICT', `extraBody must not set ${taken}: use the option for it.`);
}
