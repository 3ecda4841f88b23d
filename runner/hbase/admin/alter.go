package admin

import (
	"context"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// SetValues sets attributes of a table that say something about it and change nothing in its regions, and waits until the
// table is online with them. From HBase 2.6 on its regions stay open; earlier versions close and open each.
func (a *Admin) SetValues(ctx context.Context, table string, values map[string]string) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("set attributes of table", table, a.setValues(ctx, table, values))
}

func (a *Admin) setValues(ctx context.Context, table string, values map[string]string) error {
	name, err := tableName(table)
	if err != nil {
		return err
	}
	// The descriptor goes back as it came: what is not known here is kept, too.
	ask := wire.GetTableDescriptorsRequest_builder{TableNames: []*wire.TableName{name}}.Build()
	descriptors := &wire.GetTableDescriptorsResponse{}
	if err := a.master(ctx, "GetTableDescriptors", ask, descriptors); err != nil {
		return notFound(err)
	}
	if len(descriptors.GetTableSchema()) == 0 {
		return hbase.ErrTableNotFound
	}
	schema := descriptors.GetTableSchema()[0]
	schema.SetAttributes(withAttributes(schema.GetAttributes(), values))
	param, err := a.modifyRequest(name, schema)
	if err != nil {
		return err
	}
	answer, err := a.masterRaw(ctx, "ModifyTable", param)
	if err != nil {
		return notFound(err)
	}
	// ModifyTableResponse{proc_id = 1} is the same as that of EnableTable.
	response := &wire.EnableTableResponse{}
	if err := proto.Unmarshal(answer, response); err != nil {
		return err
	}
	if response.HasProcId() {
		if err := a.procedure(ctx, response.GetProcId()); err != nil {
			return err
		}
	}
	return a.online(ctx, table, 0)
}

func withAttributes(pairs []*wire.BytesBytesPair, values map[string]string) []*wire.BytesBytesPair {
	var kept []*wire.BytesBytesPair
	for _, pair := range pairs {
		if _, replaced := values[string(pair.GetFirst())]; !replaced {
			kept = append(kept, pair)
		}
	}
	return append(kept, attributes(values)...)
}

// modifyRequest encodes ModifyTableRequest{table_name = 1, table_schema = 2, nonce_group = 3, nonce = 4, reopen_regions = 5}.
func (a *Admin) modifyRequest(name *wire.TableName, schema *wire.TableSchema) ([]byte, error) {
	var param []byte
	for number, message := range []proto.Message{name, schema} {
		text, err := proto.Marshal(message)
		if err != nil {
			return nil, err
		}
		param = protowire.AppendBytes(protowire.AppendTag(param, protowire.Number(number+1), protowire.BytesType), text)
	}
	for i, v := range []uint64{a.group, a.options.Nonce(), protowire.EncodeBool(false)} {
		param = protowire.AppendVarint(protowire.AppendTag(param, protowire.Number(i+3), protowire.VarintType), v)
	}
	return param, nil
}

// masterRaw is master for messages that are encoded by hand.
func (a *Admin) masterRaw(ctx context.Context, method string, param []byte) (answer []byte, err error) {
	err = a.poll(ctx, func() (bool, string, error) {
		address, err := a.cluster.Master(ctx)
		if err != nil {
			return false, err.Error(), nil
		}
		call := rpc.Call{Address: address, Service: rpc.MasterService, Method: method, Param: param, Timeout: a.options.CallTimeout}
		err = a.cluster.Do(ctx, &call)
		answer = call.Body
		return true, "", err
	})
	return answer, err
}

// NamespaceExists says whether there is a namespace of that name.
func (a *Admin) NamespaceExists(ctx context.Context, namespace string) (bool, error) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	// GetNamespaceDescriptorRequest{namespaceName = 1}
	param := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), namespace)
	_, err := a.masterRaw(ctx, "GetNamespaceDescriptor", param)
	if rpc.Is(err, "NamespaceNotFoundException") {
		return false, nil
	}
	return err == nil, fail("look for namespace", namespace, err)
}

// Look sees how far a table's compactions are now. Of the options Web and HTTP count; a Web that is empty and not nil has
// no queues read.
func (a *Admin) Look(ctx context.Context, table string, o WaitOptions) (Look, error) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	look, err := a.look(ctx, table, o)
	return look, fail("look at compactions of table", table, err)
}
