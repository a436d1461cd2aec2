import type { LoadedMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { onlyAnswers } from '@svc/contract/send.ts';
import { badRequest, conflict, notFound } from '@svc/service-kit/service-error.ts';

export type Place = { instance_id?: string; channel?: string };
type MetaOf = (type: string) => LoadedMeta | null;

/**
 * The instance that a request names by id or by channel, which is the type or name of exactly one instance. Instances
 * that run take precedence over those that do not. Throws `not_found`, `conflict` or `bad_request`.
 */
export function findInstance({ instance_id, channel }: Place, instances: readonly Instance[], metaOf: MetaOf): Instance {
  if (instance_id === undefined) return findByChannel(channel ?? '', instances, metaOf);
  const instance = instances.find(({ id }) => id === instance_id);
  if (instance === undefined) throw notFound('instance', instance_id);
  if (channel !== undefined && !answersTo(instance, channel))
    throw badRequest(`The instance "${instance_id}" does not belong to the channel "${channel}". Send only one of the two.`);
  checkOutbound(instance, metaOf);
  return instance;
}

function findByChannel(channel: string, instances: readonly Instance[], metaOf: MetaOf): Instance {
  const named = instances.filter((instance) => answersTo(instance, channel));
  const [first] = named;
  if (first === undefined) throw notFound('instance of the channel', channel);
  const able = named.filter(({ type }) => (metaOf(type)?.outbound ?? false) !== false);
  if (able.length === 0) checkOutbound(first, metaOf);
  const up = able.filter(isUp);
  const [only, ...others] = up.length > 0 ? up : able;
  if (only !== undefined && others.length === 0) return only;
  const list = [only, ...others].map((each) => `"${each?.id}" (${each?.name})`).join(', ');
  throw conflict(`"${channel}" is ambiguous. It may be ${list}. Choose one with "instance_id".`, {
    instances: [only, ...others].map((each) => each?.id),
  });
}

const answersTo = ({ type, name }: Instance, channel: string) => type === channel || name === channel;

/** It accepts messages, or soon will. */
const isUp = ({ status }: Instance) => status !== 'failed' && status !== 'stopped';

function checkOutbound({ id, type }: Instance, metaOf: MetaOf): void {
  const meta = metaOf(type);
  if (meta === null) throw conflict(`The connector type "${type}" of "${id}" is not installed.`);
  if (meta.outbound === false)
    throw conflict(`${meta.displayName} only answers requests; nothing can be sent through "${id}".`, {
      reason: onlyAnswers,
    });
}

/** Throws `conflict` for an instance that accepts no messages until a person does something. */
export function checkUp(instance: Instance): void {
  if (isUp(instance)) return;
  const { id, status, reason } = instance;
  if (status === 'failed')
    throw conflict(`The instance "${id}" has failed: ${reason ?? 'see its log'}. Correct that and start it.`);
  throw conflict(`The instance "${id}" is stopped. Start it with POST /instances/${id}/start.`);
}
