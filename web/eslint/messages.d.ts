export interface Message {
  message: string;
  one?: string;
}
export function isText(value: string): boolean;
export function messagesOf(fileName: string, source: string): Message[];
export function placeholdersOf(text: string): string[];
