import type { SendTarget } from '@svc/contract/send.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { badRequest, unavailable } from '@svc/service-kit/service-error.ts';
import type { ToolDeps } from './tools/tool.ts';

const timeoutMs = 5000;

/**
 * The one instance that answers to a channel: a connector type or the name of an instance.
 * @throws ServiceError `bad_request` when there is none or more than one, `unavailable` without the manager.
 */
export async function findInstance({ settings }: Pick<ToolDeps, 'settings'>, channel: string): Promise<string> {
  const targets = (await readTargets(settings)).filter(({ enabled, outbound }) => enabled && outbound !== false);
  const fits = targets.filter((target) => target.channel === channel || target.name === channel);
  const [only] = fits;
  if (only !== undefined && fits.length === 1) return only.instance_id;
  const listed = (fits.length > 1 ? fits : targets).map((target) => `${target.instance_id} (${target.channel}, ${target.name})`);
  const which = listed.length === 0 ? 'No instance can be sent through.' : `Name an "instance_id": ${listed.join('; ')}.`;
  throw badRequest(`${fits.length === 0 ? 'No instance' : 'More than one instance'} answers to "${channel}". ${which}`);
}

async function readTargets({ bindHost, managerPort, managerToken }: ToolDeps['settings']): Promise<SendTarget[]> {
  const away = (cause?: unknown) => unavailable('The manager, which knows the channels, is away. Try again later.', cause);
  const { status, body } = await requestJson<{ targets: SendTarget[] }>(`http://${bindHost}:${managerPort}/send/targets`, {
    token: managerToken,
    timeoutMs,
  }).catch((error: unknown) => {
    throw away(error);
  });
  if (status !== 200) throw away();
  return body.targets;
}
