package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxTypeName is the length in characters beyond which a type's name is cut (Appendix A, A2).
const maxTypeName = 60

// OptionalOf is t that may be absent; a t that may be absent already stays as it is.
func OptionalOf(t Type) Type {
	switch t := t.(type) {
	case *Optional:
		return t
	case Primitive:
		if t == Null || t == Any || t == Invalid {
			return t
		}
		return optionalPrimitives[t]
	}
	return &Optional{Elem: t}
}

var optionalPrimitives = func() (all [AnyResource + 1]*Optional) {
	for p := range all {
		all[p] = &Optional{Elem: Primitive(p)}
	}
	return all
}()

// Required is t without its Optional.
func Required(t Type) Type {
	if o, ok := t.(*Optional); ok {
		return Required(o.Elem)
	}
	return t
}

var primitiveNames = [...]string{
	Invalid: "any", Null: "null", Bool: "bool", Integer: "integer", Number: "number", String: "string",
	Asset: "asset", Archive: "archive", Any: "any", JSON: "json", AnyResource: "resource",
}

// TypeName returns a type's name for messages (Appendix A, A3): at most 60 characters, with a "?" behind what may be
// absent.
func TypeName(t Type) string {
	var b strings.Builder
	writeTypeName(&b, t, 0)
	name := b.String()
	if utf8.RuneCountInString(name) <= maxTypeName {
		return name
	}
	return string([]rune(name)[:maxTypeName-1]) + "…"
}

func writeTypeName(b *strings.Builder, t Type, depth int) {
	if depth > 8 || b.Len() > 4*maxTypeName {
		b.WriteString("…")
		return
	}
	switch t := t.(type) {
	case Primitive:
		b.WriteString(primitiveNames[min(int(t), len(primitiveNames)-1)])
	case *Array:
		b.WriteString("list<")
		writeTypeName(b, t.Item, depth+1)
		b.WriteByte('>')
	case *Map:
		b.WriteString("map<")
		writeTypeName(b, t.Item, depth+1)
		b.WriteByte('>')
	case *Object:
		b.WriteString("object")
	case *Enum:
		b.WriteString("enum(")
		for i, v := range t.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			if utf8.RuneCountInString(b.String()) > maxTypeName-20 {
				b.WriteString("…")
				break
			}
			b.WriteString(ScalarText(v.Value))
		}
		b.WriteByte(')')
	case *Union:
		for i, member := range t.Members {
			if i > 0 {
				b.WriteString(" or ")
			}
			writeTypeName(b, member, depth+1)
		}
	case *Optional:
		if u, ok := t.Elem.(*Union); ok {
			b.WriteByte('(')
			writeTypeName(b, u, depth+1)
			b.WriteString(")?")
			return
		}
		writeTypeName(b, t.Elem, depth+1)
		if _, twice := t.Elem.(*Optional); !twice && !mayBeNull(t.Elem) {
			b.WriteByte('?')
		}
	case *ResourceType:
		b.WriteString("resource(" + CollapseToken(t.Token) + ")")
	case *Token:
		b.WriteString(CollapseToken(t.Token))
	default:
		b.WriteString("any")
	}
}

func mayBeNull(t Type) bool { return t == Any || t == Null || t == Invalid }

// ScalarText returns a constant, default or enum value as a program would write it, without quotes.
func ScalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// CollapseToken returns the shortest usual way to write a canonical token: aws:s3/bucket:Bucket is aws:s3:Bucket, and
// random:index/randomPet:RandomPet is random:RandomPet (L6.F, L7.6). A module such as core/v1 stays whole, since the
// version distinguishes types.
func CollapseToken(token string) string {
	parts := strings.Split(token, ":")
	if len(parts) != 3 {
		return token
	}
	module := parts[1]
	if i := strings.LastIndexByte(module, '/'); i >= 0 && strings.EqualFold(module[i+1:], parts[2]) {
		module = module[:i]
	}
	if module == "index" || module == "" {
		return parts[0] + ":" + parts[2]
	}
	return parts[0] + ":" + module + ":" + parts[2]
}

// Identical reports whether two types are the same: equal structure, and equal tokens where types have them.
func Identical(a, b Type) bool { return identical(a, b, 0) }

func identical(a, b Type, depth int) bool {
	if a == b {
		return true
	}
	if depth > maxTypeDepth {
		return false
	}
	switch a := a.(type) {
	case *Array:
		b, ok := b.(*Array)
		return ok && identical(a.Item, b.Item, depth+1)
	case *Map:
		b, ok := b.(*Map)
		return ok && identical(a.Item, b.Item, depth+1)
	case *Optional:
		b, ok := b.(*Optional)
		return ok && identical(a.Elem, b.Elem, depth+1)
	case *ResourceType:
		b, ok := b.(*ResourceType)
		return ok && a.Token == b.Token
	case *Token:
		b, ok := b.(*Token)
		return ok && a.Token == b.Token
	case *Enum:
		b, ok := b.(*Enum)
		return ok && a.Token == b.Token && a.Base == b.Base && slices.EqualFunc(a.Values, b.Values,
			func(x, y EnumValue) bool { return x.Value == y.Value })
	case *Union:
		b, ok := b.(*Union)
		return ok && a.Discriminator == b.Discriminator && slices.EqualFunc(a.Members, b.Members,
			func(x, y Type) bool { return identical(x, y, depth+1) })
	case *Object:
		b, ok := b.(*Object)
		if !ok || a.Token != b.Token || a.Closed != b.Closed {
			return false
		}
		if a.Token != "" {
			return true
		}
		return slices.EqualFunc(a.Properties(), b.Properties(), func(x, y *Property) bool {
			return x.Name == y.Name && identical(x.Type, y.Type, depth+1)
		})
	}
	return false
}
