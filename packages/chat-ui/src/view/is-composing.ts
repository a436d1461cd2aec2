/**
 * Whether a key is for the input method, which is composing a word. Safari reports the end of the composition before the key that confirms the word:
 * only its code then says so.
 */
export const isComposing = (event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean =>
  event.isComposing || event.keyCode === inputMethodKey;

/** The code of every key that an input method handles. */
const inputMethodKey = 229;
