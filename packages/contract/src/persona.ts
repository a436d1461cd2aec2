import type { Tier, ToolPolicy } from './trust.ts';

/** Answer of `GET /v2/persona`. `file` is where the operator's own words go, there or not. */
export type PersonaView = {
  text: string;
  bytes: number;
  source: 'built-in' | 'extended' | 'replaced';
  file: string;
  fault: string | null;
};

/** Whose turns a persona can be shown for: below them nobody reaches an engine. */
export const personaTiers = ['GUEST', 'KNOWN', 'TRUSTED', 'SACRED'] as const satisfies readonly Tier[];
export type PersonaTier = (typeof personaTiers)[number];

/** Answer of `GET /v2/persona/:engine?tier=`: what an engine gives its program as instructions in a turn of that tier. */
export type EnginePersona = {
  engine: string;
  tier: PersonaTier;
  /** What the service's own role of this tier may do. */
  tool_policy: ToolPolicy;
  text: string;
  bytes: number;
  source: PersonaView['source'];
  /** What the vendor's program adds by itself, a line each. */
  added: readonly string[];
};
