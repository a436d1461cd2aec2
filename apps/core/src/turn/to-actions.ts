import type { Action } from '@svc/contract/turn.ts';

/** What the connector renders for a reply's text: nothing for an empty one. */
export const toActions = (text: string): Action[] => (text.trim() === '' ? [] : [{ type: 'reply', text }]);
