import { isUtf8 } from 'node:buffer';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { amendmentSchema } from '@svc/contract/amend.ts';
import { answerSchema } from '@svc/contract/ask.ts';
import { checkoutFields } from '@svc/contract/checkout.ts';
import { envelopeSchema } from '@svc/contract/envelope.ts';
import type { LinkRequest, SessionRequest } from '@svc/contract/link.ts';
import { fieldsText, invalidFields } from '@svc/service-kit/http/invalid-fields.ts';
import { freeBytes } from '@svc/service-kit/intake/byte-blocks.ts';
import { parseSteps } from '@svc/service-kit/json/parse-steps.ts';
import { lazily } from '@svc/service-kit/lazily.ts';
import { inTurns } from '@svc/service-kit/redaction/pace.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { lazyAjv } from '../file/lazy-ajv.ts';
import { illFormedIn, illFormedSteps } from '@svc/service-kit/well-formed.ts';
import { isSessionRequest, sessionChecks, sessionOps } from './link-session-requests.ts';

/** The field that each kind of request must have; it must have none of the others. */
const subjectOf = {
  hello: 'pass',
  handle: 'envelope',
  resolve: 'envelope',
  delivered: 'turn_id',
  checkout: 'checkout',
  answer: 'ask_id',
  amend: 'version',
  unwatch: 'watch',
} satisfies Record<Exclude<LinkRequest, SessionRequest>['op'], string>;
const subjects = new Set(Object.values(subjectOf));

const requestSchema = {
  type: 'object',
  required: ['op', 'id'],
  properties: {
    op: { enum: [...sessionOps, ...Object.keys(subjectOf)] },
    id: { type: 'integer' },
    stream: { type: 'boolean' },
    confirm: { type: 'boolean' },
    again: { type: 'boolean' },
    ack: { type: 'boolean' },
    asks: { type: 'boolean' },
    request_id: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
    pass: { type: 'string', maxLength: 2048 },
    envelope: { type: 'object' },
    turn_id: { type: 'string', minLength: 1, maxLength: 128 },
    error: { type: 'string', maxLength: 4000 },
    checkout: { type: 'object', required: ['url'], properties: checkoutFields },
    ask_id: { type: 'string', minLength: 1, maxLength: 128 },
    version: { type: 'number' },
    as: { type: 'object' },
    watch: { type: 'integer' },
  },
} as const;

const ajv = lazyAjv();
/** Compiled with the first line, which a connector sends when it connects: both are on the path of every turn. */
const mainChecks = lazily(() => ({
  isRequest: ajv().compile<LinkRequest>(requestSchema),
  isEnvelope: ajv().compile(envelopeSchema),
}));
/** Compiled on first use: most processes never need these. */
const checkOf = (schema: object): (() => ValidateFunction) => lazily(() => ajv().compile(schema));
const amendmentCheck = checkOf(amendmentSchema);
/** A sender to resolve is an envelope without content. */
const senderCheck = checkOf({ ...envelopeSchema, required: ['channel', 'sender'] });
const answerCheck = checkOf(answerSchema);
const sessionCheck = lazily(() => sessionChecks(ajv()));

/** A parsed line: a request, or its problems. Without an id it cannot be answered. */
export type ParsedLine = { id: number | null; requestId?: string; value: LinkRequest | null; problems: string };

const notJson: ParsedLine = { id: null, value: null, problems: 'it is not JSON' };

export function parseLine(line: string, isText: boolean): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return notJson;
  }
  return checkRequest(value, isText, () => illFormedIn(line, value, 'request'));
}

/** The same for a long line, spread over turns of the event loop. Releases the line's bytes. */
export async function parseLongLine(line: Buffer): Promise<ParsedLine> {
  const isText = isUtf8(line);
  const parsed = await inTurns(parseSteps(line)).catch((error: unknown) => {
    if (error instanceof SyntaxError || error instanceof ServiceError) return null;
    throw error;
  });
  freeBytes(line);
  if (parsed === null) return notJson;
  const broken = parsed.mayBeIllFormed ? await inTurns(illFormedSteps(parsed.value, 'request')) : null;
  return checkRequest(parsed.value, isText, () => broken);
}

/** `whereBroken` returns the path of a string that is not well-formed Unicode, or null. */
function checkRequest(value: unknown, isText: boolean, whereBroken: () => string | null): ParsedLine {
  const { isRequest } = mainChecks();
  if (!isRequest(value)) {
    const id = (value as { id?: unknown } | null)?.id;
    return { id: typeof id === 'number' ? id : null, value: null, problems: problemsOf(isRequest.errors) };
  }
  if (!isText) return { id: value.id, value: null, problems: 'it is not valid UTF-8' };
  const broken = whereBroken();
  if (broken !== null) return { id: value.id, value: null, problems: `${broken} has broken characters` };
  const problems = problemsIn(value);
  const requestId = value.op === 'handle' ? value.request_id : undefined;
  return problems === '' ? { id: value.id, requestId, value, problems } : { id: value.id, value: null, problems };
}

/** The problems of this kind of request, which the common schema does not cover. */
function problemsIn(request: LinkRequest): string {
  const subject = isSessionRequest(request) ? null : subjectOf[request.op];
  for (const name of subjects) {
    if (Object.hasOwn(request, name) === (name === subject)) continue;
    return name === subject ? `request.${name} is missing` : `request.${name} belongs to another kind of request`;
  }
  if (isSessionRequest(request)) return faultOf(sessionCheck()(request), request);
  switch (request.op) {
    case 'handle':
      return faultOf(mainChecks().isEnvelope, request.envelope, 'envelope');
    case 'resolve':
      return faultOf(senderCheck(), request.envelope, 'envelope');
    case 'answer':
      return faultOf(answerCheck(), request);
    case 'amend':
      return faultOf(amendmentCheck(), request);
    case 'hello':
    case 'delivered':
    case 'checkout':
    case 'unwatch':
      return '';
  }
}

const faultOf = (check: ValidateFunction, value: unknown, where?: string): string =>
  check(value) ? '' : problemsOf(check.errors, where);

const problemsOf = (errors: ErrorObject[] | null | undefined, where = 'request'): string =>
  fieldsText(invalidFields(errors ?? [], where));
