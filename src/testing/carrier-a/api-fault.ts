// What the REST API refuses, in the codes of carrier A.

/** Code -> HTTP status and text. Source: the error catalog of the carrier. */
const FAULTS = {
  20001: { status: 400, message: 'A parameter has a value that it cannot have' },
  20003: { status: 401, message: 'Authenticate' },
  20404: { status: 404, message: 'The requested resource was not found' },
  20413: { status: 413, message: 'The body is too large' },
  20415: { status: 415, message: 'The body is no form' },
  12100: { status: 400, message: 'The instructions are no well-formed markup' },
  21201: { status: 400, message: "No 'To' number is specified" },
  21204: { status: 400, message: 'The call cannot be changed like that' },
  21205: { status: 400, message: 'The URL of the instructions is invalid' },
  21210: { status: 400, message: "The 'From' number is not verified or owned" },
  21211: { status: 400, message: "Invalid 'To' Phone Number" },
  21212: { status: 400, message: "Invalid 'From' Phone Number" },
  21213: { status: 400, message: "No 'From' number is specified" },
  21220: { status: 400, message: 'Call is not in-progress. Cannot redirect.' },
  21262: { status: 400, message: 'The AsyncAmdStatusCallback is missing or invalid' },
  21609: { status: 400, message: "Invalid 'StatusCallback' URL" },
} as const;

export type FaultCode = keyof typeof FAULTS;

/** A refusal. `detail` names the parameter. */
export class ApiFault extends Error {
  readonly status: number;
  readonly code: number;

  constructor(code: FaultCode, detail?: string) {
    const { status, message } = FAULTS[code];
    super(detail === undefined ? message : `${message}: ${detail}`);
    this.status = status;
    this.code = code;
  }
}

/** The body of a refusal. */
export function faultBody(fault: { status: number; code: number; message: string }): object {
  const { code, message, status } = fault;
  return { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status };
}
