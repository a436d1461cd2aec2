import type { Clock } from '@svc/service-kit/clock.ts';
import type { BotProfile } from './bot-profile.ts';
import type { Files } from './create-files.ts';
import type { Interactions } from './create-interactions.ts';
import type { Messages } from './create-messages.ts';
import type { World } from './create-world.ts';
import type { Announce } from './announce.ts';
import type { OpenApiDescription } from './description/openapi-description.ts';

/** The state that operations and people work on. */
export type Platform = {
  /** By token. */
  bots: Map<string, BotProfile>;
  world: World;
  messages: Messages;
  files: Files;
  interactions: Interactions;
  announce: Announce;
  description: OpenApiDescription;
  clock: Clock;
  /** Address of the gateway's first connection. */
  gatewayUrl: string;
  /** Records misbehaviour of a client. */
  note(fault: string): void;
};
