import { cutText } from '@svc/service-kit/cut-text.ts';

/** A text that others chose, such as a name, for use within a line of this connector: it cannot start a new line that looks like one. */
export const oneLine = (text: string, max: number): string => cutText(text.replaceAll(/\s+/g, ' ').trim(), max);
