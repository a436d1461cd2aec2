import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { answerWith, takesEffect } from '../chat-platform/platform-faults.ts';
import { listen } from '../listen.ts';
import { ApiError, type TelegramChat } from '../telegram-server/api-types.ts';
import { createLimits, tooManyRequests, usualLimits, type Limits, type Offence } from '../telegram-server/create-limits.ts';
import { readApiDescription } from '../telegram-server/description/api-description.ts';
import { readParams, readRequest, type RawRequest } from '../telegram-server/read-call.ts';
import { forwardRequest } from './forward-request.ts';
import { createFaults, isTooMany, type Faults, type TelegramRequest } from '../telegram-server/telegram-faults.ts';

export type FaultProxyOptions = {
  /** A server that speaks the Bot API. */
  target: string;
  /** Whether the proxy enforces the documented limits, with `retry_after` and penalties. */
  hasLimits?: boolean;
  /** Of the limits. */
  clock?: Clock;
};

/** A proxy before a Bot API server, which adds the faults of networks and busy platforms. Every call is checked against the API description. */
export type FaultProxy = Faults & {
  url: string;
  /** Calls that violate the API description. */
  violations: string[];
  /** Writes that came too early. */
  offences: Offence[];
  cutConnections(): void;
  close(): Promise<void>;
};

export async function startFaultProxy({
  target,
  hasLimits = false,
  clock = systemClock,
}: FaultProxyOptions): Promise<FaultProxy> {
  const violations: string[] = [];
  const limits = createLimits(hasLimits ? usualLimits : null, clock, 1);
  const { failNext, choose } = createFaults();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await readRequest(request);
    const call = readCall(raw, violations);
    const fault = choose(proxy, call);
    if (fault === 'cut before') return void response.destroy();
    if (isTooMany(fault)) return refuse(response, tooManyRequests(fault.retryAfterS));
    const refusal = refusalOf(limits, call);
    if (refusal !== null) return refuse(response, refusal);
    const nothing = { status: 200, body: Buffer.of() };
    const { status, body } = takesEffect(fault) ? await forwardRequest(target, request, raw, response) : nothing;
    if (!response.destroyed) answerWith(response, status, body, 'application/json', fault);
  };
  const server = http.createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const { url, close } = await listen(server);
  const proxy: FaultProxy = {
    url,
    violations,
    offences: limits.offences,
    fault: () => undefined,
    failNext,
    cutConnections: () => server.closeAllConnections(),
    close,
  };
  return proxy;
}

function readCall(raw: RawRequest, violations: string[]): TelegramRequest {
  const description = readApiDescription();
  const [, name = ''] = /^\/bot[^/]+\/(\w+)/.exec(raw.url) ?? [];
  const method = description.methodNamed(name);
  if (method === undefined) {
    violations.push(`no method ${raw.url.replace(/\/bot[^/]+/, '')}`);
    return { method: name, params: {} };
  }
  const { params } = readParams(raw, method, description);
  violations.push(...description.callFaults(method, params).map((fault) => `${method} ${fault}`));
  return { method, params };
}

/** The refusal of a write by the limits; null for an allowed one, and for calls that send no message. */
function refusalOf(limits: Limits, { method, params }: TelegramRequest): ApiError | null {
  if (!/^(?:send|edit)/.test(method) || /^send(?:ChatAction|MessageDraft)$/.test(method)) return null;
  const id = Number(params['chat_id']);
  const chat: TelegramChat = { id, type: id > 0 ? 'private' : 'supergroup' };
  const { media } = params;
  try {
    limits.take(chat, Array.isArray(media) ? media.length : 1);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function refuse(response: ServerResponse, { status, message, parameters }: ApiError): void {
  const body = { ok: false, error_code: status, description: message, parameters };
  answerWith(response, status, Buffer.from(JSON.stringify(body)), 'application/json');
}
