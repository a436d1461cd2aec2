import { createHash } from 'node:crypto';
import type { ErrorCode } from '@svc/contract/error-body.ts';
import type { Instance } from '@svc/contract/instance.ts';
import type { OutboundMessage, SendAnswer, SendRequest, SendTarget } from '@svc/contract/send.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import { badRequest, ServiceError, upstream } from '@svc/service-kit/service-error.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { InstanceService } from '../instance/instance-service.ts';
import { checkMessage, checkUpload } from './check-message.ts';
import type { Deliver } from './deliverer.ts';
import { checkUp, findInstance } from './find-instance.ts';
import type { SentEvents } from './sent-events.ts';
import type { SameMessage, SentStore } from './sent-store.ts';

type Deps = {
  instances: Pick<InstanceService, 'list'>;
  types: ConnectorTypes;
  sent: SentStore;
  ids: Ids;
  uploads: string;
  deliver: Deliver;
  events: SentEvents;
};

/** The stored answer to a message with a final outcome: it is delivered, or will never be. */
type Final = { ok: true } | { ok: false; code: ErrorCode; message: string; status: number };

/** A sender's name for a message. `anyContent`: a repeat may have other content, for example because it is masked again each time. */
export type SendKey = { key: string; anyContent: boolean };

/** Sent to callers when the connector did not say how long to wait. */
const defaultPauseS = 2;

/** The rules of `POST /send`. */
export type SendService = {
  /** Resolves when the channel has the message. Otherwise throws; after an attempt the details contain `delivered: false`. */
  send(request: SendRequest, under: SendKey | null): Promise<SendAnswer>;
  targets(): Promise<SendTarget[]>;
};

export function createSendService({ instances, types, sent, ids, uploads, deliver, events }: Deps): SendService {
  const metaOf = (type: string) => types.find(type)?.meta ?? null;
  const outboundOf = ({ type }: Instance) => metaOf(type)?.outbound ?? false;
  const running = new Map<string, SameMessage & { answer: Promise<SendAnswer> }>();

  async function plan(request: SendRequest): Promise<{ instance: Instance; message: Omit<OutboundMessage, 'id'> }> {
    const instance = findInstance(request, await instances.list(), metaOf);
    checkUp(instance);
    const outbound = outboundOf(instance);
    if (outbound === false) throw badRequest(`Nothing can be sent through "${instance.id}".`);
    // Checked first: a file that must not be sent is refused as such, whatever else is wrong.
    const path = request.path === undefined ? undefined : checkUpload(request.path, uploads);
    return { instance, message: checkMessage({ ...request, path }, outbound) };
  }

  async function sendNew(request: SendRequest): Promise<SendAnswer> {
    const { instance, message } = await plan(request);
    return toAnswer(await sendAndReport(instance, { id: ids.next('snd'), ...message }));
  }

  /** Recorded before it is sent. Without a final outcome the record stays open, and the next repeat tries again under the same id. */
  async function sendKeyed(request: SendRequest, { key, anyContent }: SendKey, same: SameMessage): Promise<SendAnswer> {
    const known = await sent.find(key);
    if (known !== null && !isRepeat(known, same)) throw otherMessage();
    if (known !== null && known.answer !== null) {
      // Written by this module.
      return toAnswer({ instanceId: known.instance_id, id: known.id, final: JSON.parse(known.answer) as Final });
    }
    const { instance, message } = await plan(
      known === null ? request : { ...request, channel: undefined, instance_id: known.instance_id },
    );
    const { id } = known ?? (await sent.begin(key, same, instance.id));
    // Only the core sends `anyContent`, and it reports each delivery itself.
    const attempt = anyContent ? sendOnce : sendAndReport;
    const outcome = await attempt(instance, { id, ...message });
    // A refusal is final for a sender. The core repeats a refused message only when a person asks for it, so its refusals are not stored.
    if ('final' in outcome && (outcome.final.ok || !anyContent)) await sent.settle(id, JSON.stringify(outcome.final));
    return toAnswer(outcome);
  }

  async function sendAndReport(instance: Instance, message: OutboundMessage): Promise<Outcome> {
    const outcome = await sendOnce(instance, message);
    const fault = 'error' in outcome ? outcome.error : outcome.final.ok ? undefined : toError(outcome.final);
    events(instance, message, { ok: fault === undefined, error: fault });
    return outcome;
  }

  async function sendOnce({ id: instanceId }: Pick<Instance, 'id'>, message: OutboundMessage): Promise<Outcome> {
    const tried = await deliver(instanceId, message);
    const about = { instanceId, id: message.id };
    if (tried.ok) return { ...about, final: { ok: true } };
    const error = tried.error instanceof ServiceError ? tried.error : upstream(tried.error.message, tried.error);
    const isFinal = error.code === 'unprocessable';
    if (isFinal) return { ...about, final: { ok: false, code: error.code, message: error.message, status: error.status } };
    return { ...about, error };
  }

  return {
    async send(request, under) {
      if (under === null) return sendNew(request);
      const { key } = under;
      const same: SameMessage = { place: placeOf(request), digest: under.anyContent ? null : digestOf(request) };
      const twin = running.get(key);
      if (twin !== undefined && !isRepeat(twin, same)) throw otherMessage();
      if (twin !== undefined) return twin.answer;
      const answer = sendKeyed(request, under, same).finally(() => running.delete(key));
      running.set(key, { ...same, answer });
      return answer;
    },

    async targets() {
      return (await instances.list()).map((instance) => ({
        instance_id: instance.id,
        channel: instance.type,
        name: instance.name,
        enabled: instance.enabled,
        outbound: outboundOf(instance),
      }));
    },
  };
}

const placeOf = (request: SendRequest): string =>
  JSON.stringify([request.instance_id, request.channel, request.target, request.kind]);

/** The digest of what the sender sent, before it is masked or resolved. */
const digestOf = ({ text, path, caption }: SendRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([text ?? null, path ?? null, caption ?? null]))
    .digest('hex');

const isRepeat = (known: SameMessage, now: SameMessage): boolean =>
  known.place === now.place && (known.digest === null || now.digest === null || known.digest === now.digest);

type Outcome = { instanceId: string; id: string } & ({ final: Final } | { error: ServiceError });

function toAnswer(outcome: Outcome): SendAnswer {
  const { instanceId, id } = outcome;
  if ('final' in outcome && outcome.final.ok) return { ok: true, instance_id: instanceId, delivered: true, id };
  const cause = 'error' in outcome ? outcome.error : toError(outcome.final);
  const pause = cause.status === 429 || cause.status === 503 ? { retry_after_s: defaultPauseS } : {};
  const details = { ...pause, ...cause.details, instance_id: instanceId, delivered: false, id };
  throw new ServiceError(cause.code, cause.message, { status: cause.status, details, cause });
}

function toError(final: Final): ServiceError {
  if (final.ok) throw new Error('a delivered message has no error');
  return new ServiceError(final.code, final.message, { status: final.status });
}

const otherMessage = () =>
  new ServiceError('unprocessable', 'This Idempotency-Key was used for another message. Use a new key for this one.');
