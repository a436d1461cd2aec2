import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import { toolServerMissing } from '@svc/engine-kit/tool-servers.ts';
import type { TurnNotification } from './codex-messages.ts';

/** Tracks which of a turn's tool servers have started. Codex may report nothing about one, which would then be missing without a notice. */
export type ToolServerWatch = {
  saw(notification: TurnNotification): void;
  /** Settles when the state of each server is known. */
  readonly settled: Promise<void>;
  /** True when a server failed, or codex reported nothing about it. */
  hasMissed(): boolean;
  /** Notices about the servers that codex did not report. */
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
      // A failure has its own notice.
      if (params.status === 'failed') hasFailed = true;
      if (params.status === 'ready' || params.status === 'failed') waiting.delete(params.name);
      settle();
    },
    hasMissed: () => hasFailed || waiting.size > 0,
    missing: () => Array.from(waiting, (name) => toolServerMissing(name, 'it did not start in time')),
  };
}
