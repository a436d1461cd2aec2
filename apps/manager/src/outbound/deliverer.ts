import type { OutboundMessage } from '@svc/contract/send.ts';
import { retryWithin, type Attempt } from '@svc/connector-kit/retry.ts';
import type { ConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { conflict, errorText, queueFull, ServiceError, unavailable } from '@svc/service-kit/service-error.ts';
import type { InstanceSupervisor } from '../supervisor/instance-supervisor.ts';
import { callConnector } from './call-connector.ts';

export type DelivererDeps = {
  supervisor: Pick<InstanceSupervisor, 'endpointOf' | 'statusOf' | 'mask'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
  /** Lets the process of an instance open a file of the upload area. */
  ticketFor: ConnectorPasses['ticketFor'];
  clock: Clock;
  log: Pick<Log, 'info' | 'warn'>;
};

/** Delivers one message to the process of an instance, within 9 s. Resolves with the outcome; never rejects. */
export type Deliver = (instanceId: string, message: OutboundMessage) => Promise<Attempt<void>>;

/** Callers wait 10 s, so they get the outcome before they give up. */
const limitMs = 9_000;
const maxTries = 4;
const maxPerInstance = 50;
const maxAll = 500;

/** Texts are redacted here, the last step before they are sent; if that fails, nothing is sent. */
export function createDeliverer({ supervisor, knownSecrets, ticketFor, clock, log }: DelivererDeps): Deliver {
  const running = new Map<string, number>();
  let all = 0;

  const redact = (text: string) => supervisor.mask(knownSecrets.redactor().text(text));
  const redactLong = async (text: string) => supervisor.mask(await textInSlices(knownSecrets.redactor(), text));

  async function redacted(message: OutboundMessage): Promise<OutboundMessage> {
    const { text, caption } = message;
    return {
      ...message,
      ...(text === undefined ? {} : { text: await redactLong(text) }),
      ...(caption === undefined ? {} : { caption: await redactLong(caption) }),
    };
  }

  async function attempt(instanceId: string, message: OutboundMessage, leftMs: number): Promise<Attempt<void>> {
    const endpoint = supervisor.endpointOf(instanceId);
    if (endpoint === null) return noEndpoint(instanceId);
    const { path } = message;
    const body = path === undefined ? message : { ...message, ticket: ticketFor(instanceId, path) };
    const tried = await callConnector(endpoint, '/out', { body, timeoutMs: Math.max(1, leftMs) });
    if (tried.ok) return { ok: true, value: undefined };
    const error = maskError(tried.error);
    // Whatever the connector's reason, to the sender the message is unprocessable.
    const isFinal = !tried.again && error instanceof ServiceError && error.status < 500;
    return isFinal ? { ok: false, again: false, error: new ServiceError('unprocessable', error.message) } : { ...tried, error };
  }

  function noEndpoint(instanceId: string): Attempt<void> {
    const { status, reason } = supervisor.statusOf(instanceId);
    if (status === 'running')
      return { ok: false, again: false, error: conflict(`The connector of "${instanceId}" does not accept messages to send.`) };
    // It may wait for hours, so the sender has to try again later.
    if (status === 'waiting')
      return { ok: false, again: false, error: unavailable(reason ?? 'The instance is waiting for the vault.') };
    const again = status === 'starting' || status === 'backoff';
    return { ok: false, again, error: unavailable(`The instance "${instanceId}" is ${status} at the moment.`) };
  }

  /** A platform's error may quote a URL that contains a token. */
  function maskError(error: Error): Error {
    if (!(error instanceof ServiceError)) return error;
    const { code, status, details } = error;
    return new ServiceError(code, redact(error.message), { status, details, cause: error });
  }

  async function deliver(instanceId: string, message: OutboundMessage): Promise<Attempt<void>> {
    const masked = await redacted(message);
    const startedAt = clock.elapsed();
    const tried = await retryWithin({ clock, limitMs, maxTries }, (leftMs) => attempt(instanceId, masked, leftMs));
    const facts = { instance: instanceId, message: message.id, ms: clock.elapsed() - startedAt };
    if (tried.ok) log.info(facts, 'a message was sent');
    else log.warn({ ...facts, why: tried.error.message }, 'a message was not sent');
    return tried;
  }

  return async (instanceId, message) => {
    const own = running.get(instanceId) ?? 0;
    if (own >= maxPerInstance || all >= maxAll)
      return {
        ok: false,
        again: true,
        error: queueFull(
          `${own} messages are being sent to "${instanceId}" (${all} in all), which is the limit. Try again in a moment.`,
        ),
      };
    running.set(instanceId, own + 1);
    all++;
    try {
      return await deliver(instanceId, message);
    } catch (error) {
      return { ok: false, again: true, error: unavailable(`nothing was sent: ${errorText(error)}`, error) };
    } finally {
      all--;
      const left = (running.get(instanceId) ?? 1) - 1;
      if (left === 0) running.delete(instanceId);
      else running.set(instanceId, left);
    }
  };
}
