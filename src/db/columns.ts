import type { ColumnType } from "kysely";

/** A column that the database fills in if the writer omits it. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>;
/** timestamptz, read as Date; a writer may omit it. */
export type CreatedAt = ColumnType<Date, Date | string | undefined, never>;
export type Time = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
/** jsonb, written as JSON text and read as a parsed value. */
export type Json = ColumnType<unknown, string | null | undefined, string | null>;
export type RequiredJson = ColumnType<unknown, string, string>;
export type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;
