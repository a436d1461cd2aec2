import { hash } from 'node:crypto';
import { deviceToolsName, type DeviceTool } from '@svc/contract/device-tools.ts';
import { callTimeoutMs } from '@svc/contract/instance-call.ts';
import { atLeast } from '@svc/contract/trust.ts';
import type { BuiltInTools } from '../tool-server/built-in-tools.ts';
import { operator, rightsOf, type ToolCaller } from './tool-caller.ts';
import type { TurnTokens } from './turn-tokens.ts';

/** The tools of the device that a conversation is with: offered in that conversation's turns alone, under a token of their own. */
export type DeviceTools = BuiltInTools & { callerOf(token: string): ToolCaller | null };

type Deps = { tokens: TurnTokens; url(): Promise<string>; callMs: number };

/** What is done on top of the time of the device itself: judging, masking, passing on. */
const overheadMs = 5_000;
/** The longest that a call takes: the person of the turn is asked first, then the device does it. */
export const deviceCallMs = (askTimeoutMs: number): number => askTimeoutMs + callTimeoutMs + overheadMs;

export function createDeviceTools({ tokens, url, callMs }: Deps): DeviceTools {
  const serve = async (key: string, caller: ToolCaller, ended: AbortSignal) => {
    const address = `${await url()}/device`;
    const token = tokens.begin(key, caller, ended);
    // Engines that are open go on with the tools that they had of a server: another offer is another server to them. Nothing is decided by it.
    const offer = hash('sha256', JSON.stringify(deviceToolsOf(caller)), 'base64url');
    // Safe for who may only read: the core refuses the other tools itself.
    return {
      name: deviceToolsName,
      type: 'http',
      url: address,
      headers: { Authorization: `Bearer ${token}`, 'X-Svc-Offer': offer },
      safe: true,
      // The toolbelt ends a call first, and says so.
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

/** What a caller may use of the device. In public anybody's words may be in the prompt, so only what says that it is for there. */
export function deviceToolsOf({ turn, identity }: Pick<ToolCaller, 'turn' | 'identity'>): DeviceTool[] {
  if (turn === null || turn.instanceId === null) return [];
  const isPublic = turn.envelope.public === true;
  const { tools: allowed } = rightsOf({ turn, identity });
  return (turn.envelope.device_tools ?? []).filter(
    ({ policy, min_trust = 'KNOWN', public: isForPublic = false }) =>
      (isForPublic || !isPublic) && (allowed === 'full' || allowed === policy) && atLeast(identity.trust_tier, min_trust),
  );
}
