// Errors as one process tells another of them: those that commands on calls end with are there of the class that they are here, any other has its code.
import {
  CarrierError,
  ConfigError,
  ERROR_CODES,
  type ErrorCode,
  LimitError,
  NotFoundError,
  OffhookError,
  RecordingError,
  RequestError,
  StoreError,
} from './errors.js';

/** An error as JSON. The rest of what some classes have is left out where the error has it not. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status?: number | null | undefined;
  readonly retryable?: boolean | undefined;
  readonly isFinal?: boolean | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

export function toTold(error: OffhookError): ToldError {
  const { code, message } = error;
  const { status, retryable, isFinal, retryAfterSeconds } = error as Partial<CarrierError & LimitError>;
  return { code, message, status, retryable, isFinal, retryAfterSeconds };
}

/** A code that only a later version knows becomes INTERNAL. */
export function fromTold({ message, ...told }: ToldError): OffhookError {
  const code = Object.hasOwn(ERROR_CODES, told.code) ? told.code : 'INTERNAL';
  switch (code) {
    case 'NOT_FOUND':
      return new NotFoundError(message);
    case 'LIMIT_EXCEEDED':
      return new LimitError(
        message,
        told.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: told.retryAfterSeconds },
      );
    case 'CARRIER_FAILED': {
      const { status = null, retryable = false, isFinal } = told;
      return new CarrierError(message, { status, retryable, ...(isFinal !== undefined && { isFinal }) });
    }
    case 'STORE_FAILED':
      return new StoreError(message);
    default:
  }
  if (isOf(code, 'CONFIG')) return new ConfigError(code, message);
  if (isOf(code, 'REQUEST')) return new RequestError(code, message);
  if (isOf(code, 'RECORDING')) return new RecordingError(code, message);
  // Not ClusterError, which says of the process here that it reaches no other.
  return new OffhookError(code, message);
}

function isOf<Kind extends string>(
  code: ErrorCode,
  kind: Kind,
): code is Extract<ErrorCode, `${Kind}_${string}`> {
  return code.startsWith(`${kind}_`);
}
