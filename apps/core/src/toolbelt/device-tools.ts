import { hash } from 'node:crypto';
import { deviceToolsName, type DeviceTool } from '@svc/contract/device-tools.ts';
import { callTimeoutMs } from '@svc/contract/instance-call.ts';
import { atLeast } from '@svc/contract/trust.ts';
import type { BuiltInTools } from '../tool-server/built-in-tools.ts';
import { operator, rightsOf, type ToolCaller } from './tool-caller.ts';
import type { TurnTokens } from './turn-tokens.ts';

/** The tools of a conversation's device: offered only in that conversation's turns, under their own token. */
export type DeviceTools = BuiltInTools & { callerOf(token: string): ToolCaller | null };

type Deps = { tokens: TurnTokens; url(): Promise<string>; callMs: number };

/** The time for checks, masking and transfer, in addition to the device's own. */
const overheadMs = 5_000;
/** The longest time of a call: first the person of the turn is asked, then the device runs the tool. */
export const deviceCallMs = (askTimeoutMs: number): number => askTimeoutMs + callTimeoutMs + overheadMs;

export function createDeviceTools({ tokens, url, callMs }: Deps): DeviceTools {
  const serve = async (key: string, caller: ToolCaller, ended: AbortSignal) => {
    const address = `${await url()}/device`;
    const token = tokens.begin(key, caller, ended);
    // An open engine keeps the tools that it got from a server, so each set of tools needs its own URL. Nothing is decided by this hash.
    const offer = hash('sha256', JSON.stringify(deviceToolsOf(caller)), 'base64url');
    // Safe with read-only rights: the core itself refuses the other tools.
    return {
      name: deviceToolsName,
      type: 'http',
      url: address,
      headers: { Authorization: `Bearer ${token}`, 'X-Svc-Offer': offer },
      safe: true,
      // The toolbelt times out first and reports it.
      callTimeoutMs: callMs + overheadMs,
    } as const;
  };
  return {
    name: deviceToolsName,
    description: 'What the device of a conversation can do; only in turns of that conversation.',
    serverFor({ turn, identity, ...asking }) {
      if (turn.envelope.device_tools === undefined) return null;
      const caller: ToolCaller = { turn, identity, writes: 0, ask: asking.ask };
      return deviceToolsOf(caller).length === 0 ? null : serve(turn.envelope.conversation_key, caller, asking.ended);
    },
    serverForOperator: (ended) => serve('tool-test', operator(), ended),
    callerOf: tokens.callerOf,
  };
}

/**
 * The device tools that a caller may use. In public anybody's words may be in the prompt, so only tools marked for public use are offered.
 */
export function deviceToolsOf({ turn, identity }: Pick<ToolCaller, 'turn' | 'identity'>): DeviceTool[] {
  if (turn === null || turn.instanceId === null) return [];
  const isPublic = turn.envelope.public === true;
  const { tools: allowed } = rightsOf({ turn, identity });
  return (turn.envelope.device_tools ?? []).filter(
    ({ policy, min_trust = 'KNOWN', public: isForPublic = false }) =>
      (isForPublic || !isPublic) && (allowed === 'full' || allowed === policy) && atLeast(identity.trust_tier, min_trust),
  );
}
