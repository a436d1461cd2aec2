import { cutText } from '@svc/service-kit/cut-text.ts';

/** What others chose, such as a name, within a line of this connector: it can begin no line that looks like one. */
export const oneLine = (text: string, max: number): string => cutText(text.replaceAll(/\s+/g, ' ').trim(), max);
