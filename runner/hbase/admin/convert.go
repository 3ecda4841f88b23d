package admin

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

func tableName(table string) (*wire.TableName, error) {
	namespace, name, err := splitName(table)
	if err != nil {
		return nil, err
	}
	return wire.TableName_builder{Namespace: []byte(namespace), Qualifier: []byte(name)}.Build(), nil
}

// schema is the table as HBase wants to hear of it. The table has been checked.
func (t Table) schema() *wire.TableSchema {
	name, _ := tableName(t.Name)
	families := make([]*wire.ColumnFamilySchema, len(t.Families))
	for i, f := range t.Families {
		families[i] = wire.ColumnFamilySchema_builder{Name: []byte(f.Name), Attributes: attributes(f.values())}.Build()
	}
	return wire.TableSchema_builder{TableName: name, Attributes: attributes(t.Values), ColumnFamilies: families}.Build()
}

// describedBy is the reverse of schema.
func describedBy(s *wire.TableSchema) Table {
	t := Table{
		Name:   joinName(string(s.GetTableName().GetNamespace()), string(s.GetTableName().GetQualifier())),
		Values: values(s.GetAttributes(), s.GetConfiguration()),
	}
	for _, f := range s.GetColumnFamilies() {
		t.Families = append(t.Families, family(string(f.GetName()), values(f.GetAttributes(), f.GetConfiguration())))
	}
	return t
}

// attributes are pairs in the order of their names.
func attributes(values map[string]string) []*wire.BytesBytesPair {
	var pairs []*wire.BytesBytesPair
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, wire.BytesBytesPair_builder{First: []byte(name), Second: []byte(values[name])}.Build())
	}
	return pairs
}

// values puts attributes and settings together: HBase 1 keeps them apart, later ones do not.
func values(attributes []*wire.BytesBytesPair, configuration []*wire.NameStringPair) map[string]string {
	values := map[string]string{}
	for _, pair := range attributes {
		values[string(pair.GetFirst())] = string(pair.GetSecond())
	}
	for _, pair := range configuration {
		values[pair.GetName()] = pair.GetValue()
	}
	return values
}

func specifier(name []byte) *wire.RegionSpecifier {
	return wire.RegionSpecifier_builder{Type: wire.RegionSpecifier_REGION_NAME.Enum(), Value: name}.Build()
}

func encodedSpecifier(encoded string) *wire.RegionSpecifier {
	return wire.RegionSpecifier_builder{Type: wire.RegionSpecifier_ENCODED_REGION_NAME.Enum(), Value: []byte(encoded)}.Build()
}

func (s Server) name() *wire.ServerName {
	return wire.ServerName_builder{
		HostName: proto.String(s.Host), Port: proto.Uint32(uint32(s.Port)), StartCode: proto.Uint64(uint64(s.StartCode)),
	}.Build()
}
