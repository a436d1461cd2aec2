import type { ParentMessage, ChildMessage } from '@svc/connector-kit/child-protocol.ts';
import type { InstanceConfig } from '@svc/contract/instance.ts';
import type { PartialEvent } from '@svc/contract/event.ts';
import { isRecord } from '@svc/contract/json-value.ts';
import type { BehindVault } from '@svc/service-kit/vault/behind-vault.ts';
import { cutText } from '@svc/service-kit/cut-text.ts';
import type { InstanceSecrets, SecretAnswer } from './instance-secrets.ts';
import type { SupervisorDeps } from './supervisor-deps.ts';

type Deps = Pick<SupervisorDeps, 'log' | 'telemetry' | 'exclusiveSecrets'> & {
  instance: InstanceConfig;
  /** Fields of its config that name secrets. */
  credentialKeys: readonly string[];
  /** Those of them whose value no other running instance may have. */
  exclusiveKeys: readonly string[];
  instanceSecrets: InstanceSecrets;
  /** The process that sent the message is still there. */
  isOfThisRun(): boolean;
  onBeat(): void;
  /** It asked for a secret that may be in the vault, which cannot say. Before the answer. */
  onBehindVault(fault: BehindVault): void;
  onProblem(text: string | null): void;
  reply(message: ParentMessage): void;
};

/** Does what a message of an instance's process asks for; anything else does nothing. */
export function handleChildMessage(deps: Deps, message: unknown): void {
  const { instance, instanceSecrets, telemetry } = deps;
  const heard = parseChildMessage(message);
  if (heard?.type === 'heartbeat') deps.onBeat();
  if (heard?.type === 'problem') deps.onProblem(heard.text);
  if (heard?.type === 'emit')
    telemetry.emit({ ...instanceSecrets.maskEvent(heard.event), instance_id: instance.id, surface: instance.type });
  if (heard?.type === 'secret') void answerSecret(deps, heard.requestId, heard.name);
}

async function answerSecret(deps: Deps, requestId: number, name: string): Promise<void> {
  const { instance, credentialKeys, instanceSecrets, log, onBehindVault, reply } = deps;
  const found = await instanceSecrets.answer(name, credentialKeys, instance.config);
  // One that has ended meanwhile gets nothing and holds nothing; the next may have asked something else under the same number.
  if (!deps.isOfThisRun()) return;
  const { value, error, behindVault } = claimed(deps, name, found);
  if (behindVault !== undefined) onBehindVault(behindVault);
  else if (error !== null) log.warn({ instance: instance.id, secret: name.slice(0, 100) }, error);
  reply({ type: 'secret', requestId, value, error });
}

function claimed({ instance, exclusiveKeys, exclusiveSecrets }: Deps, name: string, found: SecretAnswer): SecretAnswer {
  if (found.value === null || !exclusiveKeys.some((key) => instance.config[key] === name)) return found;
  const holder = exclusiveSecrets.claim(found.value, instance.id);
  if (holder === null) return found;
  const error = `The instance "${holder}" uses the value of "${name}" already. Each needs one of its own, or they take each other's messages.`;
  return { value: null, error };
}

type Heard = Extract<ChildMessage, { type: 'heartbeat' | 'problem' | 'emit' | 'secret' }>;

/** A message of a connector process, or null: another program sent it, so nothing in it is taken for granted. */
export function parseChildMessage(message: unknown): Heard | null {
  if (!isRecord(message)) return null;
  if (message['type'] === 'heartbeat') return { type: 'heartbeat' };
  if (message['type'] === 'problem') return toProblem(message['text']);
  if (message['type'] === 'emit') {
    const { event } = message;
    return isEvent(event) ? { type: 'emit', event } : null;
  }
  if (message['type'] === 'secret') {
    const { requestId, name } = message;
    return typeof requestId === 'number' && typeof name === 'string' && name.isWellFormed()
      ? { type: 'secret', requestId, name }
      : null;
  }
  return null;
}

const maxProblemChars = 1_000;

function toProblem(text: unknown): Heard | null {
  if (text === null) return { type: 'problem', text };
  return typeof text === 'string' ? { type: 'problem', text: cutText(text.toWellFormed(), maxProblemChars) } : null;
}

const types: Readonly<Record<string, readonly (keyof PartialEvent)[]>> = {
  string: ['id', 'surface', 'session', 'instance_id', 'identity', 'principal', 'text', 'request_id'],
  number: ['ts', 'cost_usd', 'billed_cost_usd'],
  boolean: ['billed', 'injected'],
};

/** Each field is of its type or not there: what cuts a long text takes it for a text. */
function isEvent(event: unknown): event is PartialEvent {
  if (!isRecord(event) || typeof event['kind'] !== 'string' || !isRecord(event['payload'] ?? {})) return false;
  return Object.entries(types).every(([type, names]) =>
    names.every((name) => event[name] == null || typeof event[name] === type),
  );
}
