import { toolbeltName } from '@svc/contract/tool-server.ts';
import type { ToolServer } from '@svc/engine-kit/engine.ts';
import type { Secret } from '@svc/service-kit/secret.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { versionOf } from '@svc/service-kit/version.ts';
import type { BuiltInTools } from '../tool-server/built-in-tools.ts';
import { createDeviceTools, deviceCallMs, type DeviceTools } from './device-tools.ts';
import { operator, rightsOf, type ToolCaller } from './tool-caller.ts';
import { createToolbeltProcess, type ToolbeltProcess, type ToolbeltProcessDeps } from './toolbelt-process.ts';
import { createTurnTokens } from './turn-tokens.ts';

export type ToolbeltDeps = Omit<ToolbeltProcessDeps, 'isInUse' | 'onIdleStop'> & {
  knownSecrets: { learn(values: Iterable<string>): void };
  /** The token of the operator's own client; null for none. */
  operatorToken: Secret | null;
};

/** The service's own tool server: an address and a token for each turn that may use it. */
export type Toolbelt = BuiltInTools & {
  /** Whom a token stands for right now; null for an unknown or expired one. */
  callerOf(token: string): ToolCaller | null;
  /** For tests and for monitoring; null where there is none. */
  process: Pick<ToolbeltProcess, 'state'> | null;
  /** The tools of a conversation's device. */
  device: DeviceTools;
  close(): Promise<void>;
};

export function createToolbelt({ knownSecrets, operatorToken, ...processDeps }: ToolbeltDeps): Toolbelt {
  const tokens = createTurnTokens();
  const deviceTokens = createTurnTokens();
  knownSecrets.learn([tokens.secret, deviceTokens.secret]);
  const process = createToolbeltProcess({
    ...processDeps,
    isInUse: () => tokens.live() + deviceTokens.live() > 0,
    onIdleStop() {
      tokens.forgetIdle();
      deviceTokens.forgetIdle();
    },
  });

  const serve = async (key: string, caller: ToolCaller, ended: AbortSignal): Promise<ToolServer> => {
    const url = await process.url();
    const token = tokens.begin(key, caller, ended);
    // Safe with read-only rights: the core itself refuses the other tools. A person who is asked before each action may do more.
    const safe = caller.identity.tool_policy !== 'full' || caller.identity.asks === 'never';
    return { name: toolbeltName, type: 'http', url, headers: { Authorization: `Bearer ${token}` }, safe };
  };

  return {
    name: toolbeltName,
    description: 'Sessions, who works where, sending, announcing and uploads of this service.',

    serverFor(asking) {
      const { turn, identity } = asking;
      const caller: ToolCaller = { turn, identity, writes: 0 };
      return rightsOf(caller).tools === 'none' ? null : serve(turn.envelope.conversation_key, caller, asking.ended);
    },

    serverForOperator: (ended) => serve('tool-test', operator(), ended),

    callerOf: (token) => (operatorToken?.equals(token) === true ? operator() : tokens.callerOf(token)),
    process,
    device: createDeviceTools({ tokens: deviceTokens, url: process.url, callMs: processDeps.deviceCallMs }),
    close: () => process.close(),
  };
}

type Deps = {
  settings: Pick<CoreSettings, 'askTimeoutMs' | 'bindHost' | 'corePort' | 'root' | 'toolbeltToken'>;
  env: Readonly<Record<string, string | undefined>>;
  knownSecrets: KnownSecrets;
  clock: Clock;
  log: Log;
};

/** The toolbelt with its real program, which is not started yet. */
export function openToolbelt({ settings, env, knownSecrets, clock, log }: Deps): Toolbelt {
  return createToolbelt({
    root: settings.root,
    env,
    coreUrl: `http://${settings.bindHost}:${settings.corePort}`,
    version: versionOf(settings.root),
    deviceCallMs: deviceCallMs(settings.askTimeoutMs),
    clock,
    log,
    knownSecrets,
    operatorToken: settings.toolbeltToken,
  });
}
