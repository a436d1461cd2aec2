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
  /** Whether the process that sent the message still runs. */
  isOfThisRun(): boolean;
  onBeat(): void;
  /** It asked for a secret that may be in the vault, which is sealed or unreachable. Called before the reply. */
  onBehindVault(fault: BehindVault): void;
  onProblem(text: string | null): void;
  reply(message: ParentMessage): void;
};

/** Handles a message from the process of an instance; unknown messages are ignored. */
export function handleChildMessage(deps: Deps, message: unknown): void {
  const { instance, instanceSecrets, telemetry } = deps;
  const parsed = parseChildMessage(message);
  if (parsed?.type === 'heartbeat') deps.onBeat();
  if (parsed?.type === 'problem') deps.onProblem(parsed.text);
  if (parsed?.type === 'emit')
    telemetry.emit({ ...instanceSecrets.maskEvent(parsed.event), instance_id: instance.id, surface: instance.type });
  if (parsed?.type === 'secret') void answerSecret(deps, parsed.requestId, parsed.name);
}

async function answerSecret(deps: Deps, requestId: number, name: string): Promise<void> {
  const { instance, credentialKeys, instanceSecrets, log, onBehindVault, reply } = deps;
  const found = await instanceSecrets.answer(name, credentialKeys, instance.config);
  // A process that has ended claims nothing, and the next one may have asked for another secret under the same number.
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
  const error = `The instance "${holder}" already uses the value of "${name}". Each instance needs its own, or they take each other's messages.`;
  return { value: null, error };
}

type ParsedMessage = Extract<ChildMessage, { type: 'heartbeat' | 'problem' | 'emit' | 'secret' }>;

/** A message from a connector process, or null if it is not valid: another program sent it, so nothing in it is trusted. */
export function parseChildMessage(message: unknown): ParsedMessage | null {
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

function toProblem(text: unknown): ParsedMessage | null {
  if (text === null) return { type: 'problem', text };
  return typeof text === 'string' ? { type: 'problem', text: cutText(text.toWellFormed(), maxProblemChars) } : null;
}

const types: Readonly<Record<string, readonly (keyof PartialEvent)[]>> = {
  string: ['id', 'surface', 'session', 'instance_id', 'identity', 'principal', 'text', 'request_id'],
  number: ['ts', 'cost_usd', 'billed_cost_usd'],
  boolean: ['billed', 'injected'],
};

/** Each field has its type or is missing: the code that cuts long texts relies on it. */
function isEvent(event: unknown): event is PartialEvent {
  if (!isRecord(event) || typeof event['kind'] !== 'string' || !isRecord(event['payload'] ?? {})) return false;
  return Object.entries(types).every(([type, names]) =>
    names.every((name) => event[name] == null || typeof event[name] === type),
  );
}
