import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { toolServerMissing } from '@svc/engine-kit/tool-servers.ts';
import type { TurnNotification } from './codex-messages.ts';

/** Which of a turn's tool servers have come up. Codex may say nothing of one, which would then be missing without a notice. */
export type ToolServerWatch = {
  saw(notification: TurnNotification): void;
  /** Settles when it is known of each server whether it is there. */
  readonly settled: Promise<void>;
  /** True when one failed, or codex said nothing of it. */
  hasMissed(): boolean;
  /** Notices about those that codex said nothing of. */
  missing(): EngineEvent[];
};

export function createToolServerWatch(names: readonly string[]): ToolServerWatch {
  const waiting = new Set(names);
  const settled = Promise.withResolvers<void>();
  let hasFailed = false;
  const settle = () => {
    if (waiting.size === 0) settled.resolve();
  };
  settle();
  return {
    settled: settled.promise,
    saw({ method, params }) {
      if (method !== 'mcpServer/startupStatus/updated') return;
      // A failure has a notice of its own.
      if (params.status === 'failed') hasFailed = true;
      if (params.status === 'ready' || params.status === 'failed') waiting.delete(params.name);
      settle();
    },
    hasMissed: () => hasFailed || waiting.size > 0,
    missing: () => Array.from(waiting, (name) => toolServerMissing(name, 'it did not start in time')),
  };
}
