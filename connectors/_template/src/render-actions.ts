import { splitMessage, type Action } from '@svc/connector-kit';
import { meta } from './meta.ts';

/** The core's actions → texts that the channel takes. None means that nothing is to be said. */
export const renderActions = (actions: readonly Action[]): string[] =>
  actions.flatMap(({ text }) => splitMessage(text, meta.capabilities.max_message_chars));
