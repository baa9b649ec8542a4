// What fn::bundle captures is imported from here. It is known when the archive is made, and public.
import { table, currency } from "yamlhost:captured";
import { price } from "./price";

export async function handler(event: { amount: number }): Promise<{ table: string; text: string }> {
  return { table, text: price(event.amount, currency) };
}
