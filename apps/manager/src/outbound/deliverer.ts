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
  supervisor: Pick<InstanceSupervisor, 'doorOf' | 'statusOf' | 'mask'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
  /** Lets the process of an instance open a file of the upload area. */
  ticketFor: ConnectorPasses['ticketFor'];
  clock: Clock;
  log: Pick<Log, 'info' | 'warn'>;
};

/** Takes one message to the process of an instance, within 9 s. Resolves with what became of it; never rejects. */
export type Deliver = (instanceId: string, message: OutboundMessage) => Promise<Attempt<void>>;

/** Callers wait 10 s, and get an honest answer before they give up. */
const limitMs = 9_000;
const maxTries = 4;
const maxPerInstance = 50;
const maxAll = 500;

/** Texts pass redaction here, the last place before they leave; when that fails, nothing leaves. */
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
    const door = supervisor.doorOf(instanceId);
    if (door === null) return noDoor(instanceId);
    const { path } = message;
    const body = path === undefined ? message : { ...message, ticket: ticketFor(instanceId, path) };
    const tried = await callConnector(door, '/out', { body, timeoutMs: Math.max(1, leftMs) });
    if (tried.ok) return { ok: true, value: undefined };
    const error = maskError(tried.error);
    // Whatever the connector has against it, to the sender it is a message that will not do.
    const isFinal = !tried.again && error instanceof ServiceError && error.status < 500;
    return isFinal ? { ok: false, again: false, error: new ServiceError('unprocessable', error.message) } : { ...tried, error };
  }

  function noDoor(instanceId: string): Attempt<void> {
    const { status, reason } = supervisor.statusOf(instanceId);
    if (status === 'running')
      return { ok: false, again: false, error: conflict(`The connector of "${instanceId}" takes no messages from here.`) };
    // It may wait for hours: the sender asks again later.
    if (status === 'waiting') return { ok: false, again: false, error: unavailable(reason ?? 'It waits for the vault.') };
    const again = status === 'starting' || status === 'backoff';
    return { ok: false, again, error: unavailable(`The instance "${instanceId}" is ${status} at the moment.`) };
  }

  /** What a platform says may quote an address that holds a token. */
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
        error: queueFull(`${own} messages are on their way to "${instanceId}". Try again in a moment.`),
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
