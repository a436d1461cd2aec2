import type { ParentMessage } from '@svc/connector-kit/child-protocol.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import { parseChildMessage } from './parse-child-message.ts';
import type { InstanceSecrets } from './instance-secrets.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';

type Deps = Pick<SupervisorDeps, 'log' | 'telemetry'> & {
  instance: InstanceConfig;
  /** Fields of its config that name secrets. */
  credentialKeys: readonly string[];
  instanceSecrets: InstanceSecrets;
  onBeat(): void;
  reply(message: ParentMessage): void;
};

/** Does what a message of an instance's process asks for; one that is none does nothing. */
export function handleChildMessage(deps: Deps, message: unknown): void {
  const { instance, instanceSecrets, telemetry } = deps;
  const heard = parseChildMessage(message);
  if (heard?.type === 'heartbeat') deps.onBeat();
  if (heard?.type === 'emit')
    telemetry.emit({ ...instanceSecrets.maskEvent(heard.event), instance_id: instance.id, surface: instance.type });
  if (heard?.type === 'secret') void answerSecret(deps, heard.requestId, heard.name);
}

async function answerSecret({ instance, credentialKeys, instanceSecrets, log, reply }: Deps, requestId: number, name: string) {
  const { value, error } = await instanceSecrets.answer(name, credentialKeys, instance.config);
  if (error !== null) log.warn({ instance: instance.id, secret: name.slice(0, 100) }, error);
  reply({ type: 'secret', requestId, value, error });
}
