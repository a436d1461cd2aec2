import type { Ask } from '@svc/connector-kit';
import { ButtonStyle, ComponentType, type APIActionRowComponent, type APIButtonComponent } from 'discord-api-types/v10';

const longestLabel = 80;
const mostInRow = 5;
/** Five rows of five: more than a question has answers. */
const mostButtons = 25;

const shown = (label: string): string => {
  const letters = Array.from(label.trim() === '' ? '?' : label);
  return letters.length <= longestLabel ? letters.join('') : `${letters.slice(0, longestLabel - 1).join('')}…`;
};

const styles = { primary: ButtonStyle.Primary, danger: ButtonStyle.Danger, plain: ButtonStyle.Secondary } as const;

/** A button for each answer. Its id contains the id of the question and the number of the answer. */
export function askButtons({ id, options }: Ask): APIActionRowComponent<APIButtonComponent>[] {
  const buttons = options.slice(0, mostButtons).map(({ label, style }, index): APIButtonComponent => ({
    type: ComponentType.Button,
    style: styles[style ?? 'plain'],
    label: shown(label),
    custom_id: `ask:${id}:${index + 1}`,
  }));
  const rows = Array.from({ length: Math.ceil(buttons.length / mostInRow) }, (_, row) => row * mostInRow);
  return rows.map((from) => ({ type: ComponentType.ActionRow, components: buttons.slice(from, from + mostInRow) }));
}
