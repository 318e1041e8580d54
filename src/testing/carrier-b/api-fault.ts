// Errors of carrier B's REST API, with the numbers and titles of its catalog.

const TITLES = {
  10004: 'Missing required parameter',
  10005: 'Resource not found',
  10007: 'Unexpected error',
  10009: 'Authentication failed',
  10010: 'Authorization failed',
  10011: 'Too many requests',
  10015: 'Bad Request',
  90014: 'Invalid value for digits',
  90015: 'Invalid Call Control ID',
  90017: 'Invalid value for client_state',
  90018: 'Call has already ended',
  90027: 'Invalid value for duration_millis',
  90034: 'Call not answered yet',
  90045: 'Command not possible while streaming',
  90048: 'Command only possible while streaming',
  90102: 'Answer is only possible for inbound calls',
} as const;

export type ApiCode = keyof typeof TITLES;

export interface FaultDetail {
  /** For people; no content of the request. */
  detail: string;
  /** JSON pointer to the field. */
  pointer?: string;
  /** False for what also happens to a phone server that does everything right: a race. @default true */
  isViolation?: boolean;
}

/** A request that the API refuses. */
export class ApiFault extends Error {
  readonly status: number;
  readonly code: ApiCode;
  readonly pointer: string | undefined;
  readonly isViolation: boolean;

  constructor(status: number, code: ApiCode, { detail, pointer, isViolation = true }: FaultDetail) {
    super(detail);
    this.status = status;
    this.code = code;
    this.pointer = pointer;
    this.isViolation = isViolation;
  }

  get body(): object {
    const { code, pointer } = this;
    return {
      errors: [
        {
          code: String(code),
          title: TITLES[code],
          detail: this.message,
          ...(pointer === undefined ? {} : { source: { pointer } }),
          meta: { url: `https://developers.telnyx.com/docs/overview/errors/${code}` },
        },
      ],
    };
  }
}
